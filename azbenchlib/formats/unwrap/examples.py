"""What people have around outputs, with an example of each: for the documentation, and for a test.

Where a prefix stands before each line, ``…`` is the line of the output. Prefixes in other forms are found
too, for they are told by what most lines have in common, and so are several in each other.
"""

PREFIXED = {
    "GitHub Actions, Azure Pipelines": "2024-05-02T10:00:01.1234567Z …",
    "GitLab": "2024-05-02T10:00:01.123456Z 00O …",
    "Jenkins": "[2024-05-02T10:00:01.123Z] …",
    "kubectl logs --prefix --timestamps": "[pod/fio-7d9c/fio] 2024-05-02T10:00:01.123456789Z …",
    "the log of a container's runtime": "2024-05-02T10:00:01.123456789+00:00 stdout F …",
    "docker compose": "bench-fio-1  | …",
    "terraform": "null_resource.fio (remote-exec): …",
    "syslog, logger, journalctl": "May  2 10:00:01 vm1 fio[4711]: …",
    "dmesg": "[   12.731000] …",
    "Python's logging": "2024-05-02 10:00:01,123 - root - INFO - …",
    "log4j": "2024-05-02 10:00:01,123 [main] INFO  com.acme.Runner - …",
    "klog": "I0502 10:00:01.123456       1 runner.go:42] …",
    "avocado": "10:00:01 DEBUG| [stdout] …",
    "ts": "May 02 10:00:01 …",
    "Google Cloud Build": 'Step #1 - "fio": …',
    "quotations and comments": "> …",
    "boxes and tables": "| … |",
    "cat -n, nl, less -N": "     1\t…",
    "grep -Hn": "run.log:1:…",
}
IN_STRINGS = {
    "Ansible": '{"changed": true, "stdout": "…", "stdout_lines": ["…", "…"]}',
    "az vm run-command": '{"value": [{"message": "Enable succeeded: \\n[stdout]\\n…\\n[stderr]\\n"}]}',
    "a notebook": '{"cells": [{"outputs": [{"output_type": "stream", "text": ["…\\n", "…\\n"]}]}]}',
    "JSON lines, as of Docker": '{"log":"…\\n","stream":"stdout","time":"2024-05-02T10:00:01Z"}',
    "journalctl -o json, json-pretty and export": '{"_PID": "4711", "MESSAGE": "…"}',
    "Loki": '{"data": {"result": [{"values": [["1714644061000000000", "…"]]}]}}',
    "Datadog": '{"data": [{"type": "log", "attributes": {"message": "…"}}]}',
    "Python": "{'fio version': 'fio-3.33', 'jobs': […]}",
    "TeamCity": "##teamcity[message text='…' status='NORMAL']",
    "Azure's Log Analytics": '{"tables": [{"columns": [{"name": "LogEntry"}], "rows": [["…"]]}]}',
    "GELF": '{"version": "1.1", "short_message": "…"}',
    "YAML": 'stdout: "…"',
    "logrus": 'time="2024-05-02T10:00:01Z" level=info msg="…"',
}
PACKED = {
    "a compressed file": "fio.json.gz, x_clat.1.log.zst, run.txt.bz2, run.txt.xz, run.txt.lz4",
    "an archive": "results.tgz, whose files are called results.tgz/fio.json",
}
