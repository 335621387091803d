"""The file that says where a project is: what is damaged says nothing, and no other place."""

import json

from streamhouse.project.identity import record, recorded


def test_no_bit_of_the_place_can_change_and_be_believed(tmp_path):
    (tmp_path / ".streamhouse").mkdir()
    record(tmp_path)
    file, place = tmp_path / ".streamhouse/place.json", recorded(tmp_path)
    whole = file.read_bytes()
    for bit in range(len(whole) * 8):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        assert recorded(tmp_path) in (place, None), bytes(damaged)


def test_a_file_of_an_earlier_release_is_believed(tmp_path):
    (tmp_path / ".streamhouse").mkdir()
    record(tmp_path, "a")
    file = tmp_path / ".streamhouse/place.json"
    document = json.loads(file.read_text())
    del document["checksum"]
    file.write_text(json.dumps(document))
    assert recorded(tmp_path).id == "a"
