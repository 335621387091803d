"""How well the offline Flow Planner answers wishes in plain words, over small projects; see wishes/README.md.

python benchmarks/wishes.py --set dev --verbose
python benchmarks/wishes.py --repeat 100
"""

from wishes.score import main

if __name__ == "__main__":
    main()
