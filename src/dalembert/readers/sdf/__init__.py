"""SDF files, the format of Gazebo and Drake, to mechanisms."""

from dalembert.readers.sdf.model import read as read
