# SPDX-License-Identifier: GPL-2.0-or-later
"""An Apache server of our own, on loopback, with one process a worker, and PHP in them if wanted."""

import glob
import os

import processes
from processes import Failure

MODULES = "/usr/lib/apache2/modules"

CONFIGURATION = """
ServerRoot {directory}
ServerName localhost
PidFile {directory}/apache.pid
ErrorLog {directory}/apache.log
DocumentRoot {documents}
Listen 127.0.0.1:{port}
User www-data
Group www-data
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authz_core_module {modules}/mod_authz_core.so
StartServers {workers}
MinSpareServers {workers}
MaxSpareServers {workers}
MaxRequestWorkers {workers}
KeepAlive Off
EnableMMAP Off
EnableSendfile Off
"""

# No other extension of PHP is loaded.
PHP = """
LoadModule php_module {php}
PHPIniDir {directory}
<FilesMatch "\\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
"""


def php_module():
    """Its path, None when it is not installed."""
    return max(glob.glob(f"{MODULES}/libphp*.so"), default=None)


class Server:
    """php: lines of its php.ini; None: without it. more: lines of its configuration."""

    def __init__(self, place, documents, workers, php=None, more=""):
        self.place, self.directory, self.documents = place, place.directory, documents
        self.workers, self.php, self.more = workers, php, more
        self.port = processes.free_port()
        self.process = None

    def start(self):
        text = CONFIGURATION
        if self.php is not None:
            if not php_module():
                raise Failure("libapache2-mod-php is not installed")
            text += PHP.replace("{php}", php_module())
            self._write("php.ini", "zend_extension=opcache\n" + self.php)
        text = text.format(directory=self.directory, documents=self.documents, port=self.port,
                           workers=self.workers, modules=MODULES)
        configuration = self._write("apache.conf", text + self.more)
        self.process = processes.start([self.place.find("apache2"), "-D", "FOREGROUND", "-f", configuration],
                                       env={**os.environ, "PHP_INI_SCAN_DIR": ""})
        processes.until(lambda: len(processes.children(self.process.pid)) >= self.workers and
                        processes.connects(self.port), self.process, "apache2")

    def _write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def pids(self):
        return [self.process.pid, *processes.children(self.process.pid)]

    def stop(self):
        if self.process:
            processes.stop(self.process)
