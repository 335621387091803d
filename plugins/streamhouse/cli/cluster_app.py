"""What `spark-submit` runs in cluster mode: a file, because it takes no module."""

import sys

from streamhouse.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
