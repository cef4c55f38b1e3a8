# SPDX-License-Identifier: GPL-2.0-or-later


class Error(Exception):
    pass


class UnconfiguredSubsystem(Error):
    pass


class UnconfiguredObject(UnconfiguredSubsystem):
    pass


class DataUnavailable(Error):
    pass


class PermissionDenied(Error):
    pass


class IncorrectValue(Error):
    pass


class CommitInProgress(Error):
    pass
