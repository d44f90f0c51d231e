"""nginx as the server of the benchmarks: its own configuration, free ports, an exact count of requests."""

import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time

from process import Program

HERE = os.path.dirname(os.path.abspath(__file__))


BOUNDARY = "----BenchFormBoundary7MA4YWxkTrZu0gW"


def _payloads(folder):
    """image.bin: 140 KiB that do not compress; form.bin: a multipart body with it and a JSON part."""
    image = random.Random(1).randbytes(140 << 10)
    part = '--{}\r\nContent-Disposition: form-data; name="{}"; filename="{}"\r\nContent-Type: {}\r\n\r\n'
    meta = b'{"id":123456,"vu":30,"name":"picture","tags":["a","b","c"]}'
    form = b"\r\n".join([part.format(BOUNDARY, "image", "image.jpg", "image/jpeg").encode() + image,
                         part.format(BOUNDARY, "meta", "meta.json", "application/json").encode() + meta,
                         f"--{BOUNDARY}--\r\n".encode()])
    for name, content in (("image.bin", image), ("form.bin", form)):
        with open(f"{folder}/{name}", "wb") as f:
            f.write(content)


class Missing(Exception):
    """A program that is needed is not installed."""


def _free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Nginx:
    """Running from construction until stop()."""

    def __init__(self, find, cpus):
        nginx = find("nginx")
        if not nginx:
            raise Missing("nginx is not installed: the benchmarks need it as their server")
        self.run = tempfile.mkdtemp(prefix="onrush-bench-")
        os.chmod(self.run, 0o755)  # nginx' worker may be another user
        self.http, self.https, self.status = _free_ports(3)
        self.polls = 0
        self.program = None
        # What the uploads send: 1 MiB of noise.
        self.body = f"{self.run}/body.bin"
        with open(self.body, "wb") as f:
            f.write(os.urandom(1 << 20))
        try:
            self.has_tls = self._certificate()
            self._configure()
            _payloads(self.run)
            self.program = Program([nginx, "-c", f"{self.run}/nginx.conf"], cpus)
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _certificate(self):
        openssl = shutil.which("openssl")
        if not openssl:
            return False
        subprocess.run(
            [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", f"{self.run}/key.pem", "-out", f"{self.run}/cert.pem"],
            check=True, capture_output=True, timeout=30)
        return True

    def _configure(self):
        tls = (f"listen 127.0.0.1:{self.https} ssl backlog=16384;\n"
               f"        ssl_certificate {self.run}/cert.pem;\n"
               f"        ssl_certificate_key {self.run}/key.pem;\n"
               f"        ssl_protocols TLSv1.3;") if self.has_tls else ""
        with open(f"{HERE}/nginx.conf.in") as f:
            text = f.read()
        fields = {"RUN": self.run, "HTTP": self.http, "STATUS": self.status, "TLS": tls}
        with open(f"{self.run}/nginx.conf", "w") as f:
            f.write(re.sub(r"@([A-Z]+)@", lambda m: str(fields[m[1]]), text))

    def _wait(self):
        end = time.monotonic() + 10
        while True:
            try:
                return self._read()
            except OSError as e:
                if time.monotonic() > end or self.program.wait(0):
                    raise RuntimeError(f"nginx does not answer: {e}; {self.program.text()[1]}") from e
                time.sleep(0.05)

    def _read(self):
        with socket.create_connection(("127.0.0.1", self.status), 2) as s:
            s.sendall(b"GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            data = b""
            while part := s.recv(65536):
                data += part
        self.polls += 1
        lines = data.decode().split("\r\n\r\n", 1)[1].split("\n")
        return int(lines[0].split()[2]) - 1, int(lines[2].split()[2])

    def count(self):
        """Open connections and requests answered so far, both without those of this method."""
        connections, requests = self._read()
        return connections, requests - self.polls

    def stop(self):
        if self.program:
            self.program.stop()
        shutil.rmtree(self.run, ignore_errors=True)
