"""Puts the commands together, and turns whatever goes wrong into one line on stderr."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Sequence

import typer

from llmslim_memory._version import __version__
from llmslim_memory.cli import backup, copy, demo, doctor, files, mcp, search, serve, stats, turns
from llmslim_memory.cli.output import printable
from llmslim_memory.errors import LLMSlimError

app = typer.Typer(
    name="llmslim-memory",
    help="Long-term memory for LLM agents: every turn kept word for word, the ones that answer a question picked.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("add")(turns.add)
app.command("search")(search.search)
app.command("list")(turns.list_turns)
app.command("get")(turns.get)
app.command("delete", short_help="Delete turns by id, or a whole user with --all.")(turns.delete)
app.command("stats")(stats.stats)
app.command("import", short_help="Import chats; importing again adds only what is new.")(files.import_file)
app.command("export", short_help="Write every turn to a JSONL file that import restores.")(files.export_file)
app.command("backup", short_help="Write a copy of the memory while it is in use.")(backup.backup)
app.command("copy", short_help="Copy a memory into another store, or catch up.")(copy.copy_memory)
app.command("doctor", short_help="Check the database, the tokenizer and what is installed.")(doctor.doctor)
app.command("demo", short_help="Ask an example history of ten months what it knows.")(demo.demo)
app.command("serve", short_help="Serve the memory over HTTP, with an inspector page.")(serve.serve)
app.command("token", short_help="Make a token for the users of serve and mcp --http.")(serve.token)
app.command("mcp", short_help="Serve the memory over the Model Context Protocol.")(mcp.mcp)

FAILED = 2
INTERRUPTED = 130
PIPE_CLOSED = 1  # what the command-line parser itself leaves with


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)  # noqa: T201 - what the option is for
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    _version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the version."),
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave the process: 0 when it worked, 2 with one line on stderr when it did not."""
    _prepare_streams()
    logging.basicConfig(level=logging.WARNING, format="llmslim-memory: %(message)s", stream=sys.stderr)
    sys.exit(_run(arguments))


def _prepare_streams() -> None:
    """Print what the encoding lacks as escapes, and read what it cannot hold as U+FFFD, instead of failing.

    A stream that whoever started us has closed reads as empty, and what is printed to it is lost, as in other programs.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 - stays open as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = app(None if arguments is None else list(arguments), prog_name="llmslim-memory", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has left; without this the interpreter would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("LLMSLIM_DEBUG"):
            raise
        print(f"llmslim-memory: {_one_line(error)}", file=sys.stderr)  # noqa: T201
        return FAILED
    return code if isinstance(code, int) else 0


def _one_line(error: Exception) -> str:
    # The command-line parser's own errors know how to say what was wrong, wherever their class lives in its release.
    usage = getattr(error, "format_message", None)
    if usage is not None:
        command = getattr(getattr(error, "ctx", None), "command_path", "llmslim-memory")
        message = f"{usage()} ({command} --help)"
    elif isinstance(error, LLMSlimError | OSError):
        message = str(error)
    else:
        # Nobody chose these words for people to read: they may repeat stored text, or an address with a password.
        message = f"{type(error).__name__}, which should not happen (LLMSLIM_DEBUG=1 shows where)"
    return " ".join(printable(message).split())
