from streamhouse.services.watermarks import keep_whole_logs


def test_every_bucket_is_recorded_beyond_its_end(tmp_path):
    for log in (
        "fluss/events-0/log-0",
        "fluss/events-0/log-1",
        "fluss/totals-12/log-0",
        "fluss/totals-12/kv-0",
        "other/by-day-2-3/2026-11-21-p7/log-0",  # table `by-day-2`, id 3, partition `2026-11-21`, id 7
        "other/gone-4/log-0.deleted",
        "remote-log-index-cache",
    ):
        (tmp_path / log).mkdir(parents=True)
    (tmp_path / "high-watermark-checkpoint").write_text("0\n1\n0 0 500\n")
    assert keep_whole_logs(tmp_path) == 4
    lines = (tmp_path / "high-watermark-checkpoint").read_text().splitlines()
    assert lines[:2] == ["0", "4"]
    assert {line.rpartition(" ")[0] for line in lines[2:]} == {"0 0", "0 1", "12 0", "3 7 0"}
    assert {line.rpartition(" ")[2] for line in lines[2:]} == {str(2**63 - 1)}


def test_a_server_without_tables_gets_an_empty_record(tmp_path):
    assert keep_whole_logs(tmp_path) == 0
    assert (tmp_path / "high-watermark-checkpoint").read_text() == "0\n0\n"
