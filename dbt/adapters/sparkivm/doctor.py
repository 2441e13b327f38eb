"""Checks of what must be on the machine before Spark can start: Python, Java, the pair of
pyspark and Delta.

This file uses the standard library only and parses on old Pythons: set-up runs it before
anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import metadata

MINIMUM_PYTHON = (3, 10)
SUPPORTED_JAVA = (17, 21)  # first and last
# pyspark minor version -> the delta-spark wheel whose jar is published for it.
DELTA_FOR_SPARK = {"4.1": "4.4.0"}
INSTALL = "pip install 'dbt-sparkivm[session]'"


class DoctorError(Exception):
    """Something is missing; `str()` is one line that says what, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}: {hint}")
        self.message = message
        self.hint = hint


def check_python(version: Sequence[int]) -> None:
    if tuple(version[:2]) < MINIMUM_PYTHON:
        raise DoctorError(
            "Python {}.{} is too old".format(*version[:2]),
            "install Python {}.{} or newer and run `make setup PYTHON=<that python>`".format(
                *MINIMUM_PYTHON
            ),
        )


def java_major(version_output: str) -> int | None:
    """The major version in what `java -version` prints, None if it is not to be found.

    >>> java_major('openjdk version "17.0.15" 2025-04-15')
    17
    >>> java_major('java version "1.8.0_392"')
    8
    >>> java_major('openjdk version "21-ea" 2023-09-19')
    21
    >>> java_major('command not found') is None
    True
    """
    found = re.search(r'version "(\d+)(?:\.(\d+))?', version_output)
    if not found:
        return None
    major, minor = found.groups()
    return int(minor) if major == "1" and minor else int(major)


def java_command(environment: dict[str, str] | None = None) -> str | None:
    """The java that Spark's own scripts would start: JAVA_HOME first, then the PATH."""
    env = dict(os.environ) if environment is None else environment
    home = env.get("JAVA_HOME")
    if home:
        return shutil.which(os.path.join(home, "bin", "java"))
    return shutil.which("java", path=env.get("PATH", ""))


def java_version_output(command: str) -> str:
    try:
        done = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def check_java(
    command: str | None = None, output_of: Callable[[str], str] = java_version_output
) -> None:
    command = command or java_command()
    want = "install Java {} and put it on the PATH or set JAVA_HOME".format(
        " or ".join(str(v) for v in SUPPORTED_JAVA)
    )
    if command is None:
        home = os.environ.get("JAVA_HOME")
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise DoctorError(f"no Java found {where}", want)
    major = java_major(output_of(command))
    if major is None:
        raise DoctorError(f"`{command} -version` does not tell a version", want)
    if not SUPPORTED_JAVA[0] <= major <= SUPPORTED_JAVA[1]:
        raise DoctorError(f"Java {major} does not run Spark 4.1", want)


def installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def check_pair(pyspark: str | None, delta: str | None) -> None:
    """Refuse a pyspark and a delta-spark that have no common jar.

    >>> check_pair("4.1.4", "4.4.0")
    """
    for name, version in (("pyspark", pyspark), ("delta-spark", delta)):
        if version is None:
            raise DoctorError(f"{name} is not installed", INSTALL)
    assert pyspark is not None
    wanted = DELTA_FOR_SPARK.get(minor_version(pyspark))
    if wanted is None:
        spark_minor, wanted = sorted(DELTA_FOR_SPARK.items())[-1]
        raise DoctorError(
            f"pyspark {pyspark} is not supported",
            f"pip install 'pyspark=={spark_minor}.*' 'delta-spark=={wanted}'",
        )
    if delta != wanted:
        raise DoctorError(
            f"delta-spark {delta} does not go with pyspark {pyspark}",
            f"pip install 'delta-spark=={wanted}'",
        )


def minor_version(version: str) -> str:
    return ".".join(version.split(".")[:2])


def delta_package(pyspark: str, delta: str) -> str:
    """The Maven coordinate of the Delta jar.

    >>> delta_package("4.1.4", "4.4.0")
    'io.delta:delta-spark_4.1_2.13:4.4.0'
    """
    return f"io.delta:delta-spark_{minor_version(pyspark)}_2.13:{delta}"


def explain_launch(log: str) -> DoctorError | None:
    """What the output of a JVM that did not come up means, None if we cannot tell."""
    if re.search(r"unresolved dependenc|UNRESOLVED DEPENDENCIES|download failed", log):
        jar = re.search(r"(?:unresolved dependency|not found)[:\s]+([\w.\-]+[#:][\w.\-;:]+)", log)
        return DoctorError(
            "Spark could not download {}".format(jar.group(1) if jar else "the Delta jar"),
            "give this machine access to Maven Central (or a mirror through the setting "
            "spark.jars.repositories), or name a local copy in spark.jars",
        )
    if re.search(r"Could not reserve enough space|Initial heap size|OutOfMemoryError", log):
        return DoctorError(
            "the Java process got too little memory",
            "lower spark.driver.memory in server_side_parameters",
        )
    if re.search(r"UnsupportedClassVersionError|JAVA_HOME is not set", log):
        return DoctorError("this Java does not run Spark", "install Java 17 or 21")
    return None


def check_machine() -> None:
    """Everything that can be told without starting Java's Spark."""
    check_python(sys.version_info[:2])
    check_java()


def main(arguments: Sequence[str]) -> int:
    try:
        check_machine()
        if "--machine" not in arguments:
            check_pair(installed("pyspark"), installed("delta-spark"))
        if "--resolve" in arguments:
            from dbt.adapters.sparkivm.session import try_out

            try_out()
    except DoctorError as error:
        print(f"sparkivm: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, where session.py and others would hide top-level modules
    sys.exit(main(sys.argv[1:]))
