# SPDX-License-Identifier: Apache-2.0
"""docs/parity.md: no name of the three client references is missing, and what it names here exists: flags, verbs, settings,
commands of the dashboard, tests. A row without any of them gives a reason after a dash."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCES = {
    "Go": """WarmPoolName ClaimName AdoptExisting Runtime Connectivity SandboxdRESTPort SandboxdGRPCPort Namespace GatewayName GatewayNamespace
        GatewayScheme APIURL ServerPort Env Labels ShutdownAfter PodLabels PodAnnotations VolumeClaimTemplates SandboxReadyTimeout
        GatewayReadyTimeout PortForwardReadyTimeout CleanupTimeout RequestTimeout PerAttemptTimeout MaxDownloadSize MaxUploadSize Logger Quiet
        K8sHelper RestConfig HTTPTransport TraceServiceName TracerProvider DisablePodIPRouting WithAdoptExisting WithClaimEnv WithClaimLabels
        WithClaimName WithPodAnnotations WithPodLabels WithSandboxReadyTimeout WithShutdownAfter WithVolumeClaimTemplates WithLabelSelector
        WithEnv WithMaxAttempts WithTimeout WithWorkingDir NewClient New NewK8sHelper NewTracerProvider CreateSandbox DeleteAll DeleteSandbox
        EnableAutoCleanup GetSandbox ListActiveSandboxes ListAllSandboxes WaitForSandboxReady Open Close Disconnect IsReady Run Start Read ReadTo
        Write WriteReader List Exists Delete Health Metadata Annotations ClaimName SandboxName PodName PodIP ServiceFQDN ConnectionStrategy
        DirectStrategy ProcessHandle.Close ProcessHandle.ProcessID ProcessHandle.Recv ProcessHandle.SendSignal""",
    "TypeScript": """createSandbox getSandbox listAllSandboxes deleteSandbox deleteAll enableAutoCleanup close closeLocal namespace kubeConfig
        shutdownAfterSeconds labels podLabels podAnnotations volumeClaimTemplates claimName adoptExisting sandboxReadyTimeout
        sandboxd.connectivity sandboxd.portForwardReadyTimeoutMs sandboxd.authToken sandboxd.maxCommandOutputSize sandboxd.maxDownloadSize
        sandboxd.maxUploadSize timeoutMs commands.run commands.start events wait onStdout onStderr pty resize write closeStdin
        ProcessHandle.signal ProcessHandle.kill ProcessHandle.close ProcessHandle.pid files.read files.readStream files.write files.writeStream
        files.list files.exists files.delete health metadata status""",
    "GKE": """templates defaultTemplate templates[].network templates[].containerName templates[].defaultCwd templates[].rootDir generateClaimName
        transport create create({network}) create({bindingKey}) create({ttlMs}) create({metadata}) create({env}) connect sandboxId
        parseGkeSandboxId list kill keepAlive probe close commands.run onStdout commands.run({timeoutMs}) commands.run({maxOutputBytes})
        files.write files.read files.list runtime.files.list({maxBytes}) REQUIRED_SANDBOXD_VERSION""",
}


def text(path):
    return (ROOT / path).read_text()


def rows_of(page):
    rows, section = [], None
    for line in page.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [c.strip() for c in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) == 3 and cells[0] != "reference":
            rows.append((section, *cells))
    return rows


def main():
    flags = set(re.findall(r'^\t\{ "([a-z-]+)"', text("cli/option_rows.c"), re.M))
    settings = set(re.findall(r'\] = \{ "([a-z-]+)"', text("engine/base/settings.c")))
    verbs = set(re.findall(r"X\((\w+)\)", text("cli/verbs.h")))
    commands = {name for path in (ROOT / "tui").rglob("*.c") for name in re.findall(r'\{ "([a-z-]+)", "', path.read_text())}
    findings, seen = [], {}
    for section, names, here, test in rows_of(text("docs/parity.md")):
        seen.setdefault(section, set()).update(re.split(r", (?![^(]*\))", re.sub(r"^createGkeSandboxClient: ", "", names)))
        for flag in re.findall(r"`--([a-z-]+)`", here):
            if flag not in flags:
                findings.append(f"{section}: {names}: there is no flag --{flag}")
        for verb in re.findall(r"`sandmux ([a-z]+)`", here):
            if verb not in verbs:
                findings.append(f"{section}: {names}: there is no verb {verb}")
        for command in re.findall(r"`:([a-z-]+)`", here):
            if command not in commands:
                findings.append(f"{section}: {names}: the dashboard has no command :{command}")
        for part in re.findall(r"settings? ((?:`[a-z-]+`(?:, | and )?)+)", here):
            for setting in re.findall(r"`([a-z-]+)`", part):
                if setting not in settings:
                    findings.append(f"{section}: {names}: there is no setting {setting}")
        path, _, name = test.partition("::")
        if not name or not (ROOT / path).is_file() or name not in text(path):
            findings.append(f"{section}: {names}: there is no test {test}")
        if "`" not in here and "— " not in here and not re.search(r"policy|NAME|permissions|Ctrl-C|codes", here):
            findings.append(f"{section}: {names}: neither something of ours nor a reason")
    for section, names in REFERENCES.items():
        for name in names.split():
            if name not in seen.get(section, set()):
                findings.append(f"{section}: {name} has no row")
    for finding in findings:
        print(f"parity: {finding}")
    print(f"{1 - bool(findings)} passed, {int(bool(findings))} failed")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
