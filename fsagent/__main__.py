"""Run the command line as `python -m fsagent`."""

from fsagent.cli.main import main

if __name__ == "__main__":
    main()
