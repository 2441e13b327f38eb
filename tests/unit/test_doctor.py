from __future__ import annotations

import doctest
import sys

import pytest
from dbt.adapters.sparkivm import doctor, handles, messages, seeds, settings
from dbt.adapters.sparkivm.doctor import DoctorError


@pytest.mark.parametrize("module", [doctor, handles, messages, seeds, settings])
def test_examples(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("output", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('java version "21.0.2" 2024-01-16 LTS', 21),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "11.0.22" 2024-01-16', 11),
        ('openjdk version "25" 2025-09-16', 25),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
        ("", None),
    ],
)
def test_java_major(output: str, major: int | None) -> None:
    assert doctor.java_major(output) == major


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ('version "1.8.0_392"', "Java 8 does not run Spark 4.1: install Java 17 or 21"),
        ('version "25"', "Java 25 does not run Spark 4.1: install Java 17 or 21"),
        ("what?", "does not tell a version: install Java 17 or 21"),
    ],
)
def test_wrong_java_is_one_line(output: str, line: str) -> None:
    with pytest.raises(DoctorError) as raised:
        doctor.check_java("java", lambda _: output)
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("output", ['version "17.0.1"', 'version "21.0.2"'])
def test_right_java(output: str) -> None:
    doctor.check_java("java", lambda _: output)


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DoctorError, match="no Java found on the PATH: install Java 17 or 21"):
        doctor.check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(DoctorError, match="no Java found in JAVA_HOME"):
        doctor.check_java()


def test_old_python() -> None:
    doctor.check_python((3, 10, 0))
    with pytest.raises(DoctorError, match="Python 3.9 is too old: install Python 3.10"):
        doctor.check_python((3, 9, 18))


@pytest.mark.parametrize(
    ("pyspark", "delta", "line"),
    [
        (None, "4.4.0", "pyspark is not installed: pip install 'dbt-sparkivm"),
        ("4.1.4", None, "delta-spark is not installed: pip install 'dbt-sparkivm"),
        ("4.0.1", "4.4.0", "pyspark 4.0.1 is not supported: pip install 'pyspark==4.1"),
        ("4.1.4", "4.4.1", "delta-spark 4.4.1 does not go with pyspark 4.1.4: pip install"),
    ],
)
def test_wrong_pair_is_one_line(pyspark: str | None, delta: str | None, line: str) -> None:
    with pytest.raises(DoctorError) as raised:
        doctor.check_pair(pyspark, delta)
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


IVY = """
:: problems summary ::
:::: WARNINGS
                module not found: io.delta#delta-spark_4.1_2.13;4.4.0
                ::::::::::::::::::::::::::::::::::::::::::::::
                ::          UNRESOLVED DEPENDENCIES         ::
                :: io.delta#delta-spark_4.1_2.13;4.4.0: not found
Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: \
io.delta#delta-spark_4.1_2.13;4.4.0: not found]
"""


def test_unresolved_jar_is_one_line() -> None:
    error = doctor.explain_launch(IVY)
    assert error is not None
    assert "could not download io.delta#delta-spark_4.1_2.13;4.4.0: give this" in str(error)
    assert doctor.explain_launch("all is well") is None


def test_main_prints_one_line_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 1))
    assert doctor.main(["--machine"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("sparkivm: Python 3.8 is too old")
    assert error.count("\n") == 1
