# SPDX-License-Identifier: Apache-2.0
"""What every verb says: when it did it, when there was nothing to do, when it could not, and when it does not know. One test a
row. A text that is not so, or none at all, is as bad as a wrong status."""
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from backend import CLAIMS, Backend
from harness import BIN, Case, free_port, main
from harness.sandmux import home_env, run
from harness.scripted_api import ScriptedApi

NOTHING = r"\A\Z"
GONE = f"http://127.0.0.1:{free_port()}"  # nobody listens
DEAD = ["--kubeconfig", "/dev/null", "--server", GONE]
REFUSED = r"\Asandmux: kube\.transport: http://127\.0\.0\.1:\d+: Connection refused"
DAEMON_DEAD = ["--set", "connect-timeout=300ms", "--rest", GONE, "--grpc", GONE[7:]]

# verb, what it is about, when, arguments, status, stdout, stderr. {b}: a sandbox that is there; {s}: one that is suspended;
# {t}: a folder of this test's own; {u}: a word of this row's own.
ROWS = [
    # ---- the list
    ("ls", "did", ["ls"], 0, r"^NAME +STATE +SANDBOX.*\n(.*\n)*box +Ready ", NOTHING),
    ("ls", "did as names", ["ls", "-o=name"], 0, r"^sandboxclaim/box$", NOTHING),
    ("ls", "nothing", ["ls", "-n", "empty-one"], 0, NOTHING, r"\ANo sandboxes found in namespace empty-one\.\n\Z"),
    ("ls", "nothing as json", ["ls", "-n", "empty-one", "-o", "json"], 0, r'"items":\s*\[\]', NOTHING),
    ("ls", "could not", ["{forbidden}", "ls"], 4, NOTHING, r"\Asandmux: kube\.forbidden: .*cannot list"),
    ("ls", "does not know", [*DEAD, "ls"], 6, NOTHING, REFUSED),
    *[row for verb, word in (("get", "box +Ready"), ("describe", r"State +Ready"), ("status", r"\ASandboxReady\n\Z")) for row in (
        (verb, "did", [verb, "box"], 0, word, NOTHING),
        (verb, "did by the name that is printed", [verb, "sandboxclaim.extensions.agents.x-k8s.io/box"], 0, word, NOTHING),
        (verb, "could not", ["{forbidden}", verb, "box"], 4, NOTHING, r"\Asandmux: kube\.forbidden: "),
        (verb, "does not know", [*DEAD, verb, "box"], 6, NOTHING, REFUSED))],
    ("get", "not there", ["get", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: no claim is called nobody in namespace default"),
    ("describe", "not there", ["describe", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("status", "not there", ["status", "nobody"], 3, r"\ASandboxNotFound\n\Z", NOTHING),
    # ---- what it has written, what it is, where it is
    ("logs", "did", ["logs", "box", "--tail", "5"], 0, r"\A", NOTHING),
    ("logs", "not there", ["logs", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("logs", "could not", ["logs", "box", "-c", "nope"], 1, NOTHING, r"\Asandmux: kube\.bad_request: container nope is not valid"),
    ("logs", "wrong use", ["logs", "box", "-f", "-p"], 2, NOTHING, r"\Asandmux: arg\.invalid: what has ended does not go on"),
    ("logs", "does not know", [*DEAD, "logs", "box"], 6, NOTHING, REFUSED),
    ("rm", "would", ["rm", "box", "--dry-run=client"], 0, r"\A---\nmethod: DELETE\npath: \S+/sandboxclaims/box\n", NOTHING),
    ("suspend", "would, says the server", ["suspend", "box", "--dry-run=server"], 0, r"\nanswer:\n(.*\n)*  kind: Sandbox\n", NOTHING),
    ("context", "could not", ["context", "use", "nowhere"], 2, NOTHING, r"\Asandmux: config\.kubeconfig: no context is called 'nowhere'"),
    ("context", "wrong use", ["context", "use"], 2, NOTHING, r"\Asandmux: arg\.invalid: context: context ls, or context use NAME|\Asandmux: arg\.invalid: context ls, or context use NAME"),
    ("edit", "has no terminal", ["edit", "box"], 2, NOTHING, r"\Asandmux: tty\.none: an editor needs a terminal"),
    # ---- what stands around it
    ("events", "did", ["events", "box"], 0, r"\A(AGE|LAST|TYPE|NAME|.*REASON)", r"\A.*"),
    ("events", "not there", ["events", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("events", "does not know", [*DEAD, "events"], 6, NOTHING, REFUSED),
    ("tree", "did", ["tree", "box"], 0, r"^SandboxClaim/box .*\n├─ Sandbox/", NOTHING),
    ("tree", "not there", ["tree", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("pool", "did", ["pool", "ls"], 0, r"^local ", NOTHING),
    ("pool", "not there", ["pool", "scale", "nowhere", "3"], 3, NOTHING, r"\Asandmux: (kube|pool)\.not_found: "),
    ("pool", "may not", ["--read-only", "pool", "scale", "local", "3"], 7, NOTHING, r"\Asandmux: op\.read_only: "),
    ("pool", "wrong use", ["pool", "drain", "local"], 2, NOTHING, r"\Asandmux: arg\.invalid: "),
    ("template", "did", ["template", "ls"], 0, r"^local ", NOTHING),
    ("template", "wrong use", ["template", "rm"], 2, NOTHING, r"\Asandmux: arg\.invalid: "),
    ("lease", "nothing", ["lease", "ls", "-n", "empty-one"], 0, NOTHING, r"\ANo leases found in namespace empty-one\.\n\Z"),
    ("lease", "does not know", [*DEAD, "lease", "ls"], 6, NOTHING, REFUSED),
    ("top", "did", ["top", "box"], 0, r"^box ", NOTHING),
    ("top", "not there", ["top", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    # ---- the life of a sandbox
    ("create", "did", ["create", "{u}"], 0, r"\A{u}\n\Z", NOTHING),
    ("create", "did as a name", ["create", "-o", "name", "sandboxclaim/{u}"], 0, r"\Asandboxclaim/{u}\n\Z", NOTHING),
    ("create", "nothing", ["create", "box", "--adopt"], 0, r"\Abox\n\Z", NOTHING),
    ("create", "could not", ["create", "box"], 1, NOTHING, r"\Asandmux: claim\.exists: claim box exists already; adopt it or choose another name\n\Z"),
    ("create", "could not, and what is left", ["create", "{u}", "--pool", "nowhere", "--timeout", "3s"], 3, NOTHING,
     r"\Asandmux: pool\.not_found: .*\nclaim {u} is left; take it away with: sandmux rm {u}\n\Z"),
    ("create", "could not, nothing is left", ["create", "--pool", "nowhere", "--timeout", "3s"], 3, NOTHING, r"\Asandmux: pool\.not_found: [^\n]*\n\Z"),
    ("create", "may not", ["--read-only", "create", "{u}"], 7, NOTHING, r"\Asandmux: op\.read_only: "),
    ("create", "wrong use", ["create", "{u}", "--shutdown-after", "0s"], 2, NOTHING, r"\Asandmux: arg\.invalid: create: --shutdown-after '0s' is not a time"),
    ("create", "does not know", [*DEAD, "create", "--pool", "p", "x"], 6, NOTHING, REFUSED),
    ("wait", "did", ["wait", "box"], 0, r"\Abox condition met\n\Z", NOTHING),
    ("wait", "not there", ["wait", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("wait", "nothing", ["wait", "nobody", "--for", "deleted"], 0, r"\Anobody deleted\n\Z", NOTHING),
    ("wait", "could not", ["wait", "{s}", "--for", "deleted", "--timeout", "300ms"], 5, NOTHING, r"\Asandmux: op\.timeout: {s} is not deleted"),
    ("wait", "wrong use", ["wait", "box", "--for", "luck"], 2, NOTHING, r"\Asandmux: arg\.invalid: --for 'luck' is not one of"),
    ("wait", "does not know", [*DEAD, "wait", "box"], 6, NOTHING, REFUSED),
    ("lifetime", "did", ["lifetime", "--in", "1h", "--yes", "{new}"], 0, r"\A{new} changed until \S+Z\n\Z", NOTHING),
    ("lifetime", "nobody to ask", ["lifetime", "--in", "1h", "{new}"], 2, NOTHING, r"\Asandmux: arg\.invalid: {new} has no end: "),
    ("lifetime", "wrong use", ["lifetime", "box"], 2, NOTHING, r"\Asandmux: arg\.invalid: lifetime needs "),
    ("lifetime", "may not", ["--read-only", "lifetime", "--never", "box"], 7, NOTHING, r"\Asandmux: op\.read_only: "),
    ("lifetime", "not there", ["lifetime", "--never", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("lifetime", "does not know", [*DEAD, "lifetime", "--never", "box"], 6, NOTHING, REFUSED),
    ("rm", "did", ["rm", "--yes", "{new}"], 0, r"\A{new} deleted\n\Z", NOTHING),
    ("rm", "did as json", ["rm", "--yes", "-o", "json", "{new}"], 0,
     r'\A\{{"kind":"sandboxclaim","name":"{new}","result":"deleted","changed":true\}}\n\Z', NOTHING),
    ("rm", "did with the name that is printed", ["rm", "--yes", "-o", "name", "sandboxclaim/{new}"], 0, r"\Asandboxclaim/{new}\n\Z", NOTHING),
    ("rm", "did not wait", ["rm", "--yes", "--wait=false", "{held}"], 0, r"\A{held} is being deleted\n\Z", NOTHING),
    ("rm", "waited in vain", ["rm", "--yes", "--timeout", "300ms", "{held}"], 5, NOTHING, r"\Asandmux: op\.timeout: {held} is still being deleted"),
    ("rm", "not there", ["rm", "--yes", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: no claim is called nobody"),
    ("rm", "the rest goes on", ["rm", "--yes", "nobody", "{new}"], 3, r"\A{new} deleted\n\Z", r"\Asandmux: claim\.not_found: "),
    ("rm", "nobody to ask", ["rm", "box"], 2, NOTHING, r"\Asandmux: arg\.invalid: delete without a terminal needs --yes"),
    ("rm", "unknown option", ["rm", "box", "--force"], 2, NOTHING, r"\Asandmux: arg\.invalid: rm: unknown option --force"),
    ("rm", "may not", ["--read-only", "rm", "--yes", "box"], 7, NOTHING, r"\Asandmux: op\.read_only: "),
    ("rm", "does not know", [*DEAD, "rm", "--yes", "box"], 6, NOTHING, REFUSED),
    ("suspend", "did", ["suspend", "{new}"], 0, r"\A{new} suspended\n\Z", NOTHING),
    ("suspend", "nothing", ["suspend", "{s}"], 0, r"\A{s} is suspended already\n\Z", NOTHING),
    ("suspend", "nothing as json", ["suspend", "-o", "json", "{s}"], 0, r'"result":"is suspended already","changed":false', NOTHING),
    ("suspend", "could not", ["--read-only", "suspend", "box"], 7, NOTHING, r"\Asandmux: op\.read_only: "),
    ("suspend", "not there", ["suspend", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("suspend", "does not know", [*DEAD, "suspend", "box"], 6, NOTHING, REFUSED),
    ("resume", "did", ["resume", "{s2}"], 0, r"\A{s2} resumed\n\Z", NOTHING),
    ("resume", "nothing", ["resume", "box"], 0, r"\Abox is running already\n\Z", NOTHING),
    ("resume", "could not", ["--read-only", "resume", "{s}"], 7, NOTHING, r"\Asandmux: op\.read_only: "),
    ("resume", "not there", ["resume", "nobody"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("resume", "does not know", [*DEAD, "resume", "box"], 6, NOTHING, REFUSED),
    ("extend", "did where there was no end", ["extend", "{new}", "--timeout", "2h"], 0, r"\A{new} extended until \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n\Z", NOTHING),
    ("extend", "did as json", ["extend", "{new}", "--timeout", "2h", "-o", "json"], 0, r'"result":"extended","changed":true,"expiresAt":"\d{{4}}-', NOTHING),
    ("extend", "nothing", ["extend", "{long}", "--timeout", "1m"], 1, NOTHING,
     r"\Asandmux: claim\.unchanged: {long} lives until \d{{4}}-\S+Z already, and is never shortened\n\Z"),
    ("extend", "wrong use", ["extend", "box", "--timeout", "0s"], 2, NOTHING, r"\Asandmux: arg\.invalid: extend: --timeout '0s' is not a time"),
    ("extend", "not there", ["extend", "nobody", "--timeout", "1h"], 3, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("extend", "could not", ["--read-only", "extend", "box", "--timeout", "1h"], 7, NOTHING, r"\Asandmux: op\.read_only: "),
    ("extend", "does not know", [*DEAD, "extend", "box", "--timeout", "1h"], 6, NOTHING, REFUSED),
    # ---- processes
    ("run", "did", ["run", "box", "--", "sh", "-c", "echo out; echo err >&2; exit 3"], 3, r"\Aout\n\Z", r"\Aerr\n\Z"),
    ("run", "did as json", ["run", "box", "-o", "json", "--", "sh", "-c", "echo out; echo err >&2; exit 3"], 3,
     r'"stdout":\s*"out\\n",\s*"stderr":\s*"err\\n",\s*"exitCode":\s*3,\s*"duration":\s*\d', NOTHING),
    ("run", "bytes that are no text as json", ["run", "box", "-o", "json", "--", "printf", r"a\377\000\001\033"], 0,
     r'"stdout":\s*"a\uFFFD\uFFFD\\u0001\\u001b",\s*"stdoutBase64":\s*"Yf8AARs="', NOTHING),
    ("run", "killed", ["run", "box", "--", "sh", "-c", "kill -9 $$"], 137, NOTHING, NOTHING),
    ("run", "could not, no program", ["run", "box", "--", "no-such-program"], 127, NOTHING, r"\Asandmux: proc\.command_not_found: .*no-such-program"),
    ("run", "could not, over time", ["run", "box", "--timeout", "300ms", "--", "sh", "-c", "echo out; exec sleep 50"], 124, r"\Aout\n\Z",
     r"\Asandmux: op\.timeout: it did not end within 300 ms and was killed"),
    ("run", "could not, over time before it began", ["run", "{s}", "--timeout", "300ms", "--", "true"], 125, NOTHING, r"\Asandmux: sandbox\.suspended: "),
    ("run", "could not, too much output", ["run", "box", "--output-limit", "1KiB", "--", "sh", "-c", "yes | head -c 600; yes | head -c 600 >&2; sleep 50"], 125,
     r"\A(y\n){{300}}\Z", r"\A(y\n){{212}}sandmux: limit\.output: it wrote more than 1\.0 KiB and was killed"),
    ("run", "does not know", [*DEAD, "run", "box", "--", "true"], 125, NOTHING, REFUSED),
    ("run", "does not know, no daemon", [*DAEMON_DEAD, "run", "--", "true"], 125, NOTHING, r"\Asandmux: conn\.refused: "),
    ("sh", "did", ["sh", "box", "--", "sh", "-c", "exit 4"], 4, NOTHING, NOTHING),
    ("sh", "could not", ["sh", "box", "--", "no-such-program"], 127, NOTHING, r"\Asandmux: proc\.command_not_found: "),
    ("sh", "not there", ["sh", "nobody"], 125, NOTHING, r"\Asandmux: claim\.not_found: "),
    ("sh", "does not know", [*DEAD, "sh", "box"], 125, NOTHING, REFUSED),
    # ---- files
    ("cp", "did", ["cp", "{t}/file", "box:{u}"], 0, NOTHING, r"\A1 files?, 5 B copied, 0 skipped, 0 failed\n\Z"),
    ("cp", "nothing", ["cp", "--conflict", "skip", "{t}/file", "box:there"], 0, NOTHING, r"0 files?, 0 B copied, 1 skipped, 0 failed"),
    ("cp", "could not", ["cp", "{t}/none", "box:{u}"], 3, NOTHING, r"\Asandmux: file\.not_found: .*none"),
    ("cp", "could not, not among its files", ["cp", "{t}/file", "box:/etc/{u}"], 7, NOTHING, r"\Asandmux: arg\.path: /etc/{u} is not among the sandbox's files, which are in /workspace"),
    ("cp", "does not know", [*DEAD, "cp", "{t}/file", "box:{u}"], 6, NOTHING, REFUSED),
    ("files", "did ls", ["files", "ls", "box:/workspace"], 0, r"^-0644 +5 +\S+ +there$", NOTHING),
    ("files", "nothing to ls", ["files", "ls", "box:hollow"], 0, NOTHING, NOTHING),
    ("files", "did cat", ["files", "cat", "box:there"], 0, r"\Afive\n\Z", NOTHING),
    ("files", "did stat", ["files", "stat", "box:/workspace/there"], 0, r"\Afile\t5\t\S+Z\n\Z", NOTHING),
    ("files", "did rm", ["files", "rm", "box:gone-soon"], 0, NOTHING, r"\Agone-soon is deleted\n\Z"),
    *[("files", f"not there {verb}", ["files", verb, "box:none"], 3, NOTHING, r"\Asandmux: file\.not_found: .*none") for verb in ("ls", "cat", "stat", "rm")],
    *[("files", f"does not know {verb}", [*DEAD, "files", verb, "box:there"], 6, NOTHING, REFUSED) for verb in ("ls", "cat", "stat", "rm")],
    ("files", "could not", ["files", "cat", "box:hollow"], 1, NOTHING, r"\Asandmux: file\.is_dir: "),
    ("health", "did", ["health", "box"], 0, r"\Aok\tup \d+ s\n\Z", NOTHING),
    ("health", "does not know", [*DAEMON_DEAD, "health"], 6, NOTHING, r"\Asandmux: conn\.refused: "),
    ("metadata", "did", ["metadata", "box", "-o", "json"], 0, r'"env":', NOTHING),
    ("metadata", "does not know", [*DAEMON_DEAD, "metadata"], 6, NOTHING, r"\Asandmux: conn\.refused: "),
    # ---- the way
    ("probe", "did", ["probe"], 0, r"\Ahealthy\n\Z", NOTHING),
    ("probe", "does not know", [*DEAD, "probe"], 6, r"\Atransport\n\Z", REFUSED),
    ("doctor", "did", ["doctor"], 0, r"^ok +", NOTHING),
    ("doctor", "could not", [*DEAD, "doctor"], 1, r"^FAILED +API server.*Connection refused", NOTHING),
    ("local", "did status", ["local", "status"], 0, r"\Aready, pid \d+, https://127\.0\.0\.1:\d+\n", NOTHING),
    ("local", "nothing to start", ["local", "up"], 0, r"\Aready, pid \d+", r"\Athe local backend was running already\n\Z"),
    ("local", "nothing to stop", ["--state-dir", "{t}/none-here", "local", "down"], 0, NOTHING, r"\Athe local backend is not running\n\Z"),
    ("local", "not running", ["--state-dir", "{t}/none-here", "local", "status"], 6, r"\Astopped\n", NOTHING),
    ("local", "nothing to reset", ["--state-dir", "{t}/none-here", "local", "reset", "--yes"], 0, NOTHING, r"there is nothing in {t}/none-here"),
    ("local", "nobody to ask", ["local", "reset"], 2, NOTHING, r"\Asandmux: arg\.invalid: reset without a terminal needs --yes"),
    ("local", "wrong use", ["local", "sideways"], 2, NOTHING, r"\Asandmux: arg\.invalid: local has [a-z, ]+, not 'sideways'"),
    # ---- about itself
    ("settings", "did", ["settings"], 0, r"^kill-grace +5s +5s ", NOTHING),
    ("settings", "could not", ["--set", "kill-grace=soon", "settings"], 2, NOTHING, r"\Asandmux: arg\.invalid: .*kill-grace"),
    ("completion", "did", ["completion", "bash"], 0, r"complete -F _sandmux sandmux", NOTHING),
    ("completion", "does not know", ["completion", "csh"], 2, NOTHING, r"\Asandmux: arg\.invalid: completion knows bash, zsh and fish, not 'csh'"),
    ("options", "did", ["options"], 0, r"^  -n, --namespace NS ", NOTHING),
    ("help", "did", ["help", "run"], 0, r"\Asandmux run (.*\n)*.*while read -r name; do sandmux run --no-stdin", NOTHING),
    ("", "not in a cluster", ["--in-cluster", "--kubeconfig", "/dev/null", "ls"], 1, NOTHING, r"\Asandmux: config\.none: not in a cluster: KUBERNETES_SERVICE_HOST is not set"),
    ("help", "does not know", ["help", "nothing"], 2, NOTHING, r"\Asandmux: arg\.invalid: there is no page about 'nothing'"),
    ("version", "did", ["version"], 0, r"\Asandmux \d+\.\d+\.\d+\n\Z", NOTHING),
    ("", "no terminal", [], 2, NOTHING, r"\Asandmux: tty\.none: "),
    ("", "unknown verb", ["crate"], 2, NOTHING, r"\Asandmux: arg\.invalid: unknown verb 'crate'; did you mean 'create'\?"),
    ("", "a missing kubeconfig", ["--kubeconfig", "/no/such/file", "ls"], 2, NOTHING, r"\Asandmux: config\.kubeconfig: /no/such/file: "),
    ("", "a value for a switch", ["ls", "--watch=yes"], 2, NOTHING, r"\Asandmux: arg\.invalid: ls: --watch=yes: --watch takes no value"),
    ("", "an unknown letter", ["ls", "-Z"], 2, NOTHING, r"\Asandmux: arg\.invalid: ls: unknown option -Z"),
    ("", "a variable without a value", ["run", "box", "-e", "NAME", "--", "true"], 2, NOTHING, r"\Asandmux: arg\.invalid: run: --env NAME needs a value"),
]


class Verbs(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="sandmux-verbs-", ignore_cleanup_errors=True)
        cls.home = Path(cls.folder.name)
        cls.env = home_env(cls.home)
        cls.forbidden = ScriptedApi(1)
        for resource in ("sandboxclaims", "sandboxes"):
            cls.forbidden.forbid(resource)
        cls.forbidden_config = cls.forbidden.kubeconfig(cls.home / "forbidden")
        (cls.home / "file").write_text("five\n")
        cls.ours("create", "box")
        cls.ours("cp", cls.home / "file", "box:there")
        cls.ours("run", "box", "--", "sh", "-c", "mkdir hollow; touch gone-soon")
        for name in ("sleepy", "sleepy2"):
            cls.ours("create", name)
            cls.ours("suspend", name)
        cls.ours("create", "long", "--shutdown-after", "10h")

    @classmethod
    def ours(cls, *args):
        return run("--local", *args, env=cls.env, timeout=60, check=0)

    @classmethod
    def tearDownClass(cls):
        run("local", "reset", "--yes", env=cls.env, timeout=60)
        cls.forbidden.stop()
        cls.folder.cleanup()

    def held(self, name):
        """A claim that a finalizer holds."""
        status = json.loads(self.ours("local", "status", "-o", "json").out)
        api = Backend.__new__(Backend)
        api.port = status["port"]
        api.state = Path(status["stateDir"])
        import ssl
        api.context = ssl.create_default_context(cafile=str(api.state / "tls/ca.pem"))
        api.headers = {"Authorization": f"Bearer {(api.state / 'token').read_text()}"}
        reply = api.merge(f"{CLAIMS}/{name}", {"metadata": {"finalizers": ["example.com/hold"]}})
        self.assertEqual(reply.code, 200, reply.body)
        self.addCleanup(api.merge, f"{CLAIMS}/{name}", {"metadata": {"finalizers": []}})

    def row(self, number, args, status, out, err):
        unique = f"row-{number}"
        words = {"b": "box", "s": "sleepy", "s2": "sleepy2", "long": "long", "t": str(self.home), "u": unique, "new": unique, "held": unique,
                 "forbidden": ""}
        text = " ".join(args)
        if "{new}" in text or "{held}" in text:
            self.ours("create", unique)
        if "{held}" in text:
            self.held(unique)
        if args[:1] == ["{forbidden}"]:
            args = ["--kubeconfig", self.forbidden_config, *args[1:]]
        elif not set(args) & {"--server", "--rest", "--kubeconfig", "--state-dir"} and args and args[0] not in ("local", "crate"):
            args = ["--local", *args]
        r = run(*(re.sub(r"\{(\w+)\}", lambda m: words[m[1]], a) for a in args), env=self.env, timeout=60)
        for stream, pattern in ((r.out, out), (r.err, err)):
            pattern = re.sub(r"\{(\w+)\}", lambda m: re.escape(words[m[1]]) if m[1] in words else m[0], pattern.replace("{{", "\0").replace("}}", "\1"))
            self.assertRegex(stream, re.compile(pattern.replace("\0", "{").replace("\1", "}"), re.M), f"{args}: status {r.code}\n{r.out}\n{r.err}")
        self.assertEqual(r.code, status, r.err)


def add(number, verb, what, args, status, out, err):
    setattr(Verbs, re.sub(r"\W+", "_", f"test_{verb or 'sandmux'}_{what}"), lambda self: self.row(number, list(args), status, out, err))


for i, entry in enumerate(ROWS):
    add(i, *entry)


class EveryVerb(Case):
    def test_has_its_rows(self):
        listed = set(re.findall(r"^  sandmux ([a-z]+)", run("--help", env=home_env(self.tmp), check=0).out, re.M))
        self.assertEqual(listed - {row[0] for row in ROWS}, set())


class Scripts(Case):
    """In a script, with other programs."""

    def setUp(self):
        self.tmp
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        self.sandmux("--local", "create", "box", timeout=60, check=0)

    def bash(self, script):
        r = subprocess.run(["bash", "-c", script], env={**os.environ, **home_env(self.tmp), "PATH": f"{Path(BIN).parent}:{os.environ['PATH']}"},
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return r.returncode, r.stdout, r.stderr

    def test_a_loop_keeps_its_input(self):
        loop = "printf 'a\\nb\\nc\\n' | while read -r word; do sandmux --local run {} box -- echo \"got $word\"; done"
        self.assertEqual(self.bash(loop.format("--no-stdin")), (0, "got a\ngot b\ngot c\n", ""))
        self.assertEqual(self.bash(loop.format("")), (0, "got a\n", ""))  # the switch is what makes the difference
        self.assertEqual(self.bash("echo lost | sandmux --local run --no-stdin box -- cat"), (0, "", ""))

    def test_a_closed_pipe_is_silent(self):
        for command in ("run box -- seq 1 3000000", "help keys", "--help", "files cat box:big", "cp box:big -"):
            self.sandmux("--local", "run", "box", "--", "sh", "-c", "seq 1 1000000 >big", check=0)
            code, out, err = self.bash(f"sandmux --local {command} | true; echo ${{PIPESTATUS[0]}}")
            self.assertEqual(err, "", command)
            self.assertIn(out, ("141\n", "0\n") if "help" in command else ("141\n",), command)

    def test_a_full_disk_is_not(self):
        code, out, err = self.bash("sandmux --local run box -- seq 1 3000000 >/dev/full; echo $?; sandmux --help >/dev/full; echo $?")
        self.assertEqual(out, "125\n1\n")
        self.assertRegex(err, r"\Asandmux: .*[Nn]o space left.*\nsandmux: system: cannot write to standard output\n\Z")

    def test_shells_end_with_their_input(self):
        self.assertEqual(self.bash("echo 'echo hi-$((40+2)); exit 7' | sandmux --local sh box"), (7, "hi-42\n", ""))
        self.assertEqual(self.bash("sandmux --local sh box </dev/null"), (0, "", ""))
        code, out, err = self.bash("printf 'echo hi-$((40+2))' | sandmux --local run -t box -- sh")
        self.assertIn("hi-42", out)
        code, out, err = self.bash("sandmux --local run -t box -- sh -c 'tty; cat; exit 5' </dev/null")
        self.assertEqual(code, 5)
        self.assertIn("/dev/pts", out)

    def test_the_timeout_is_for_all_of_it(self):
        self.assertEqual(self.bash("sandmux --local run --timeout 400ms -o json box -- sh -c 'echo out; exec sleep 70' 2>/dev/null | tr -d '\\n\\t '")[1][:46],
                         '{"stdout":"out\\n","stderr":"","exitCode":null,')

    def test_a_group_is_impersonated_without_a_verb(self):
        """The dashboard, too: the option parser used to forget it there."""
        api = ScriptedApi(1)
        self.addCleanup(api.stop)
        seen = []
        handler = api.server.RequestHandlerClass
        before = handler.do_GET

        def do_GET(request):
            seen.append(request.headers.get_all("Impersonate-Group"))
            before(request)
        handler.do_GET = do_GET
        config = api.kubeconfig(self.tmp / "kc")
        scr = self.sandmux_screen("--kubeconfig", config, "--as", "alice", "--as-group", "devs", "--as-group", "ops")
        scr.wait_for("claim-00000")
        self.assertEqual(set(map(tuple, seen)), {("devs", "ops")})
        scr.stop()
        seen.clear()
        self.sandmux("--kubeconfig", config, "--as", "alice", "--as-group", "devs", "ls", check=0)
        self.assertEqual(set(map(tuple, seen)), {("devs",)})

    def test_json_is_exact_and_safe(self):
        names = ["a\x1b[31mb\tc\nd", "del\x7f", "c1\u0085\u009b", "bidi\u202egpj.exe", "zero\u200bwidth", "lit\\u0000x", "ünï", "e\u0301", "\U0001f600"]
        for name in names:
            (self.tmp / "one").write_text("x")
            self.sandmux("--local", "cp", self.tmp / "one", f"box:odd/{name}", check=0)
        r = self.sandmux("--local", "files", "ls", "-o", "json", "box:odd", check=0)
        self.assertEqual(sorted(e["name"] for e in json.loads(r.out)["entries"]), sorted(names))
        self.assertNotRegex(r.out, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]")
        self.assertIn("ünï", r.out)
        r = self.sandmux("--local", "files", "ls", "-o", "yaml", "box:odd", check=0)
        self.assertNotRegex(r.out, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]")
        self.assertIn('"bidi\\u202egpj.exe"', r.out)

    def test_a_watch_speaks_of_what_it_has_shown(self):
        from harness.pty import Pty
        p = Pty([BIN, "--local", "ls", "-w"], env=home_env(self.tmp), stderr=subprocess.DEVNULL)
        self.addCleanup(p.close)
        p.wait_for(lambda: b"box " in p.raw)
        self.sandmux("--local", "create", "short", check=0)
        p.wait_for(lambda: re.search(rb"short +\x1b\[32mReady", p.raw))
        self.sandmux("--local", "rm", "--yes", "short", check=0)
        p.wait_for(lambda: re.search(rb"short +Deleted", p.raw))
        p.proc.terminate()
        self.assertEqual(p.ends(), 143)
        lines = [re.split(rb"   +", re.sub(rb"\x1b\[\d*m", b"", line)) for line in p.raw.splitlines()]
        self.assertEqual(sum(line[0] == b"box" for line in lines), 1)
        self.assertEqual({line[0] for line in lines} - {b"<over>"}, {b"NAME", b"box", b"short"})


main()
