// A step of the classical Runge-Kutta method with constant joint forces by Pinocchio's forward dynamics, over a batch of
// states, one thread. For models whose velocities are the rates of their coordinates.
#include "pinocchio_model.hpp"
#include "pinocchio/algorithm/aba.hpp"

namespace pin = pinocchio;
typedef Eigen::VectorXd Vector;
typedef Eigen::Map<const Vector> State;

struct Robot
{
  pin::Model model;
  pin::Data data;
  Vector q, v2, v3, v4, a1, a2, a3, a4;
  explicit Robot(const pin::Model& m) : model(m), data(m), q(m.nq), v2(m.nv), v3(m.nv), v4(m.nv), a1(m.nv), a2(m.nv), a3(m.nv), a4(m.nv) {}
};

extern "C" {

__attribute__((visibility("default"))) void* robot(long joints, const double* rows) { return new Robot(model_of(joints, rows)); }

// out: q and v of each state after the step; convention: 0 local, 1 world axes inside the algorithm
__attribute__((visibility("default"))) void step(void* robot, int convention, double h, long n, const double* q, const double* v,
                                                 const double* tau, double* out)
{
  Robot& r = *static_cast<Robot*>(robot);
  const pin::Model& m = r.model;
  const pin::Convention axes = convention ? pin::Convention::WORLD : pin::Convention::LOCAL;
  const long nv = m.nv;
  for (long i = 0; i < n; ++i, out += 2 * nv) {
    const State q0(q + i * nv, nv), v0(v + i * nv, nv), force(tau + i * nv, nv);
    r.a1 = pin::aba(m, r.data, q0, v0, force, axes);
    r.q.noalias() = q0 + h / 2 * v0;
    r.v2.noalias() = v0 + h / 2 * r.a1;
    r.a2 = pin::aba(m, r.data, r.q, r.v2, force, axes);
    r.q.noalias() = q0 + h / 2 * r.v2;
    r.v3.noalias() = v0 + h / 2 * r.a2;
    r.a3 = pin::aba(m, r.data, r.q, r.v3, force, axes);
    r.q.noalias() = q0 + h * r.v3;
    r.v4.noalias() = v0 + h * r.a3;
    r.a4 = pin::aba(m, r.data, r.q, r.v4, force, axes);
    Eigen::Map<Vector>(out, nv).noalias() = q0 + h / 6 * (v0 + 2 * r.v2 + 2 * r.v3 + r.v4);
    Eigen::Map<Vector>(out + nv, nv).noalias() = v0 + h / 6 * (r.a1 + 2 * r.a2 + 2 * r.a3 + r.a4);
  }
}

}
