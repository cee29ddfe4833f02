"""Mechanisms to robot files of other programs: `save` in URDF and MJCF, and what is lost in these."""
