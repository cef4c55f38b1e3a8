# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTP proxy for apt, the only exit of a network namespace without a network. The proxy listens
on the loopback interface of the namespace and fetches from the network of its own process."""
import http.server
import shutil
import socket
import threading
import urllib.error
import urllib.request

PORT = 3142
PASSED_ON = ('Range', 'If-Range', 'If-Modified-Since', 'Cache-Control')
PASSED_BACK = ('Content-Length', 'Content-Type', 'Content-Range', 'Last-Modified', 'ETag')
TIMEOUT_S = 60


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        headers = {name: self.headers[name] for name in PASSED_ON if name in self.headers}
        if not self.path.startswith('http://'):
            self.send_error(400, 'a proxy is asked for whole addresses')
            return
        try:
            self.pass_back(urllib.request.urlopen(
                urllib.request.Request(self.path, headers=headers), timeout=TIMEOUT_S))
        except urllib.error.HTTPError as answer:
            self.pass_back(answer)
        except OSError as error:
            self.send_error(502, str(error))

    def pass_back(self, answer):
        with answer:
            self.send_response(answer.status)
            for name in PASSED_BACK:
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            if 'Content-Length' not in answer.headers:
                self.close_connection = True
                self.send_header('Connection', 'close')
            self.end_headers()
            shutil.copyfileobj(answer, self.wfile)

    def log_message(self, *words):
        pass


class Proxy:
    """Serves the namespace from now on until close()."""

    def __init__(self, namespace):
        with namespace:
            listening = socket.create_server(('127.0.0.1', PORT))
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler,
                                                      bind_and_activate=False)
        self.server.socket.close()
        self.server.socket = listening
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
