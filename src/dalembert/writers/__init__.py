"""Mechanisms to robot files of other programs: `save` in URDF and MJCF, and what these cannot say."""
