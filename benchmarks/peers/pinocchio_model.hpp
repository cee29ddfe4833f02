// A Pinocchio model from rows of numbers, one row a joint (peers/pinocchio.py writes them).
#pragma once
#include "pinocchio/multibody.hpp"
#include <string>

constexpr long ROW = 30;      // parent, kind, axis (3), placement: rotation (9) and translation (3), mass, lever (3), inertia (9)
enum Kind { REVOLUTE = 0, PRISMATIC = 1, FREE = 2 };

inline pinocchio::Model model_of(long joints, const double* rows)
{
  namespace pin = pinocchio;
  typedef Eigen::Matrix<double, 3, 3, Eigen::RowMajor> Matrix3;
  typedef Eigen::Map<const Eigen::Vector3d> Vector;
  typedef Eigen::Map<const Matrix3> Matrix;
  pin::Model model;
  for (long i = 0; i < joints; ++i) {
    const double* x = rows + i * ROW;
    const Vector axis{x + 2}, translation{x + 14}, lever{x + 18};
    const Matrix rotation{x + 5}, inertia{x + 21};
    const pin::SE3 placement{Eigen::Matrix3d(rotation), Eigen::Vector3d(translation)};
    const std::string name = "joint" + std::to_string(i);
    const pin::JointIndex parent = pin::JointIndex(x[0]);
    const auto add = [&](const auto& joint) { return model.addJoint(parent, joint, placement, name); };
    pin::JointIndex j;
    if (x[1] == FREE) j = add(pin::JointModelFreeFlyer());
    else if (x[1] == PRISMATIC) j = add(pin::JointModelPrismaticUnaligned(axis[0], axis[1], axis[2]));
    else if (axis[0] == 1) j = add(pin::JointModelRX());
    else if (axis[1] == 1) j = add(pin::JointModelRY());
    else if (axis[2] == 1) j = add(pin::JointModelRZ());
    else j = add(pin::JointModelRevoluteUnaligned(axis[0], axis[1], axis[2]));
    model.appendBodyToJoint(j, pin::Inertia(x[17], Eigen::Vector3d(lever), Eigen::Matrix3d(inertia)), pin::SE3::Identity());
  }
  return model;
}
