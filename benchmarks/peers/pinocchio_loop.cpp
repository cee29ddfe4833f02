// Pinocchio's algorithms over a batch of states, one thread: what its users write in C++. Results are stored per state,
// as Pinocchio holds them (peers/pinocchio.py knows the layouts).
#include "pinocchio_model.hpp"
#include "pinocchio/algorithm/aba-derivatives.hpp"
#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/regressor.hpp"
#include "pinocchio/algorithm/rnea-derivatives.hpp"
#include "pinocchio/algorithm/rnea.hpp"
#include <cstring>

namespace pin = pinocchio;
typedef Eigen::Map<const Eigen::VectorXd> State;

struct Robot
{
  pin::Model model;
  pin::Data data;
  explicit Robot(const pin::Model& m) : model(m), data(m) {}
};

template <class Matrix> static double* store(double* out, const Matrix& result)
{
  std::memcpy(out, result.data(), sizeof(double) * std::size_t(result.size()));
  return out + result.size();
}

template <class F> static void loop(const Robot& r, long n, const double* q, const double* v, const double* x, double* out, F f)
{
  const long nq = r.model.nq, nv = r.model.nv;
  for (long i = 0; i < n; ++i) out = f(State(q + i * nq, nq), State(v + i * nv, nv), State(x + i * nv, nv), out);
}

extern "C" {

__attribute__((visibility("default"))) void* robot(long joints, const double* rows) { return new Robot(model_of(joints, rows)); }

// x: accelerations, or forces for forward dynamics; convention: 0 local, 1 world axes inside the algorithm
__attribute__((visibility("default"))) int run(void* robot, int quantity, int convention, long n, const double* q,
                                               const double* v, const double* x, double* out)
{
  Robot& r = *static_cast<Robot*>(robot);
  const pin::Model& m = r.model;
  pin::Data& d = r.data;
  const pin::Convention axes = convention ? pin::Convention::WORLD : pin::Convention::LOCAL;
  switch (quantity) {
  case 0: loop(r, n, q, v, x, out, [&](const State& q, const State& v, const State& a, double* o) {
    return store(o, pin::rnea(m, d, q, v, a)); }); return 0;
  case 1: loop(r, n, q, v, x, out, [&](const State& q, const State& v, const State& tau, double* o) {
    return store(o, pin::aba(m, d, q, v, tau, axes)); }); return 0;
  case 2: loop(r, n, q, v, x, out, [&](const State& q, const State&, const State&, double* o) {
    return store(o, pin::crba(m, d, q, axes)); }); return 0;
  case 3: loop(r, n, q, v, x, out, [&](const State& q, const State& v, const State& a, double* o) {
    pin::computeRNEADerivatives(m, d, q, v, a);
    return store(store(store(o, d.dtau_dq), d.dtau_dv), d.M); }); return 0;
  case 4: loop(r, n, q, v, x, out, [&](const State& q, const State& v, const State& tau, double* o) {
    pin::computeABADerivatives(m, d, q, v, tau);
    return store(store(store(o, d.ddq_dq), d.ddq_dv), d.Minv); }); return 0;
  case 5: loop(r, n, q, v, x, out, [&](const State& q, const State& v, const State& a, double* o) {
    return store(o, pin::computeJointTorqueRegressor(m, d, q, v, a)); }); return 0;
  }
  return 1;
}

// bits 0-3: whether dtau_dq, M, ddq_dq and Minv are stored by rows
__attribute__((visibility("default"))) int layouts()
{
  return int(decltype(pin::Data::dtau_dq)::IsRowMajor) | int(decltype(pin::Data::M)::IsRowMajor) << 1
    | int(decltype(pin::Data::ddq_dq)::IsRowMajor) << 2 | int(decltype(pin::Data::Minv)::IsRowMajor) << 3;
}

}
