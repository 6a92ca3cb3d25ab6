#!/usr/bin/env python3
"""Types command lines of oltr with the Tab key into a real shell, and compares what it makes of them.

usage: typed_keys.py bash|zsh OLTR

The shell runs in a pseudo terminal and has read the script of `oltr help --completion`.  After the
keys, the word @END is typed; when the terminal shows it, the shell is done with the keys before.
Keys are typed only after the prompt: before it the terminal itself would show them.
"""

from __future__ import annotations

import os
import pathlib
import pty
import re
import select
import sys
import time

TAB = "\t"
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
PREPARE = {
    "bash": "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; "
            "bind 'set page-completions off'; bind 'set completion-query-items 0'; PS2=; "
            ". <(oltr help --completion bash); PS1=@PROM''PT",
    "zsh": "autoload -Uz compinit; compinit -D -u; unsetopt beep zle_bracketed_paste; "
           "unset zle_bracketed_paste; setopt list_packed; LISTMAX=1000; PS2=; RPS1=; "
           "unsetopt prompt_cr prompt_sp; . <(oltr help --completion zsh); "
           "PS1=@PROM''PT",
}

# What is typed, and the line that Tab makes of it.
LINES = [
    ("oltr polici" + TAB, "oltr policies "),
    ("oltr mod" + TAB + "le" + TAB, "oltr model learn "),
    ("oltr policies ts-h" + TAB, "oltr policies ts-hyper "),
    ("oltr policies cascade-kl" + TAB, "oltr policies cascade-klucb "),
    ("oltr run --thr" + TAB, "oltr run --threads "),
    ("oltr run sma" + TAB, "oltr run small.yaml "),
    ("oltr run -o fol" + TAB, "oltr run -o folder/"),
    ("oltr run --output=fol" + TAB, "oltr run --output=folder/"),
    ("oltr run small.yaml --set rou" + TAB, "oltr run small.yaml --set rounds="),
    ("oltr run small.yaml --set wor" + TAB + "mis" + TAB,
     "oltr run small.yaml --set world.misspecification="),
    ("oltr run small.yaml --set policies.TS" + TAB + "pr" + TAB + "fu" + TAB,
     "oltr run small.yaml --set policies.TS-Beta.prior=full "),
    ("oltr model create m --policy gts --set sig" + TAB,
     "oltr model create m --policy gts --set sigma="),
    ("oltr model create m --policy gts --set sampler=rel" + TAB,
     "oltr model create m --policy gts --set sampler=released "),
    ("oltr model create m --policy=ts-h" + TAB, "oltr model create m --policy=ts-hyper "),
    ("oltr model rank m --sync al" + TAB, "oltr model rank m --sync always "),
    ("oltr data generate ist" + TAB, "oltr data generate istella "),
    ("oltr help mod" + TAB + "mer" + TAB, "oltr help model merge "),
    ("oltr reproduce noncon" + TAB, "oltr reproduce noncontextual "),
]

# What is typed, and words that the list of two Tabs must have.
LISTS = [
    ("oltr ", ["run", "reproduce", "policies", "model", "help"]),
    ("oltr model ", ["create", "learn", "rank", "forget"]),
    ("oltr policies ", ["gts", "ts-beta", "lints", "toprank"]),
    ("oltr run --", ["--seed", "--set", "--resume", "--help"]),
    ("oltr model learn m --", ["--columns", "--lenient"]),
]


class Shell:
    """A shell in a pseudo terminal that has a long line and no colours."""

    def __init__(self, kind: str, folder: pathlib.Path):
        environment = {"HOME": str(folder), "PATH": f"{folder}:{os.environ['PATH']}",
                       "TERM": "dumb", "COLUMNS": "1000", "LINES": "50", "LC_ALL": "C.UTF-8"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(START[kind][0], START[kind], environment)
        self.kind = kind
        self.said = ""
        self.send("stty cols 1000\n" + PREPARE[kind] + "\n")
        self.wait_for("@PROMPT")

    def send(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def wait_for(self, word: str) -> str:
        """Everything up to this word."""
        end = time.monotonic() + 60
        while word not in self.said:
            if time.monotonic() > end or not select.select([self.fd], [], [], 60)[0]:
                sys.exit(f"{self.kind} does not answer; it said:\n{self.said}")
            self.said += os.read(self.fd, 65536).decode(errors="replace")
        before, _, self.said = self.said.partition(word)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\a\x00]", "", before)

    def typed(self, keys: str) -> str:
        """What the terminal shows after the keys, up to @END; the line is given up."""
        self.send(keys + "@END")
        said = self.wait_for("@END")
        self.send("\x15echo @DO''NE\n")
        self.wait_for("@DONE")
        self.wait_for("@PROMPT")
        return said


def last_line(said: str) -> str:
    """The last line as the terminal shows it: carriage returns and backspaces done."""
    shown: list[str] = []
    at = 0
    for c in said.rsplit("\n", 1)[-1]:
        if c == "\r":
            at = 0
        elif c == "\b":
            at = max(0, at - 1)
        else:
            shown[at:at + 1] = [c]
            at += 1
    return "".join(shown).removeprefix("@PROMPT")


def main() -> int:
    kind, oltr = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder = pathlib.Path(f"home-{kind}").resolve()
    folder.mkdir()
    (folder / "oltr").symlink_to(oltr)
    shell = Shell(kind, folder)
    faults = []
    for keys, wanted in LINES:
        got = last_line(shell.typed(keys))
        if got != wanted:
            faults.append(f"{keys!r} gives {got!r}, not {wanted!r}")
    for keys, wanted in LISTS:
        said = shell.typed(keys + TAB + TAB)
        missing = [word for word in wanted if not re.search(rf"(?<!\S){re.escape(word)}(?!\S)", said)]
        if missing:
            faults.append(f"{keys!r} does not list {missing}: {said!r}")
    os.close(shell.fd)
    os.waitpid(shell.pid, 0)
    print("\n".join(faults) or f"{kind}: {len(LINES)} lines and {len(LISTS)} lists")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
