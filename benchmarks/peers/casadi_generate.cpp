// C source by CasADi of Pinocchio's algorithms on CasADi's symbols: casadi_generate ROWS_FILE FOLDER.
// Writes FOLDER/NAME.c for each function; each maps (q, v, x) to one dense matrix, stored by columns.
#include "pinocchio/autodiff/casadi.hpp"
#include "pinocchio_model.hpp"
#include "pinocchio/algorithm/aba-derivatives.hpp"
#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/regressor.hpp"
#include "pinocchio/algorithm/rnea-derivatives.hpp"
#include "pinocchio/algorithm/rnea.hpp"
#include <casadi/casadi.hpp>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <vector>

namespace pin = pinocchio;
typedef casadi::SX SX;
typedef pin::ModelTpl<SX> Model;
typedef pin::DataTpl<SX> Data;
typedef Eigen::Matrix<SX, Eigen::Dynamic, 1> Vector;
constexpr int SMALL = 12;      // freedoms up to which derivatives are written out: beyond, gcc takes minutes

static Vector entries(const SX& x)
{
  Vector v(x.size1());
  for (int i = 0; i < x.size1(); ++i) v[i] = x(i);
  return v;
}

template <class M> static SX dense(const M& m)
{
  SX out(casadi::Sparsity::dense(m.rows(), m.cols()));
  for (int c = 0; c < m.cols(); ++c)
    for (int r = 0; r < m.rows(); ++r) out(r, c) = m(r, c);
  return out;
}

template <class M> static SX symmetric(M m)
{
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < i; ++j) m(i, j) = m(j, i);
  return dense(m);
}

int main(int argc, char** argv)
{
  if (argc != 3) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const long joints = long(bytes.size() / sizeof(double)) / ROW;
  const Model m = model_of(joints, reinterpret_cast<const double*>(bytes.data())).cast<SX>();
  const SX qs = SX::sym("q", m.nq), vs = SX::sym("v", m.nv), xs = SX::sym("x", m.nv);
  const Vector q = entries(qs), v = entries(vs), x = entries(xs);
  const auto emit = [&](const std::string& name, const std::function<SX(Data&)>& build) {
    Data d(m);
    const casadi::Function f(name, {qs, vs, xs}, {SX::densify(build(d))});
    casadi::CodeGenerator generator(name + ".c", {{"with_header", false}});
    generator.add(f);
    generator.generate(std::string(argv[2]) + "/");
    std::cout << name << ' ' << f.n_instructions() << std::endl;
  };
  const auto differentiated = [&](const SX& y) { return SX::horzcat({jacobian(y, qs), jacobian(y, vs), jacobian(y, xs)}); };
  emit("inverse_dynamics", [&](Data& d) { return dense(pin::rnea(m, d, q, v, x)); });
  emit("forward_dynamics_local", [&](Data& d) { return dense(pin::aba(m, d, q, v, x, pin::Convention::LOCAL)); });
  emit("forward_dynamics_world", [&](Data& d) { return dense(pin::aba(m, d, q, v, x, pin::Convention::WORLD)); });
  emit("mass_matrix_local", [&](Data& d) { pin::crba(m, d, q, pin::Convention::LOCAL); return symmetric(d.M); });
  emit("mass_matrix_world", [&](Data& d) { pin::crba(m, d, q, pin::Convention::WORLD); return symmetric(d.M); });
  emit("regressor", [&](Data& d) { return dense(pin::computeJointTorqueRegressor(m, d, q, v, x)); });
  if (m.nq != m.nv || m.nv > SMALL) return 0;
  emit("inverse_dynamics_derivatives_analytical", [&](Data& d) {
    pin::computeRNEADerivatives(m, d, q, v, x);
    return SX::horzcat({dense(d.dtau_dq), dense(d.dtau_dv), symmetric(d.M)}); });
  emit("inverse_dynamics_derivatives_automatic", [&](Data& d) { return differentiated(dense(pin::rnea(m, d, q, v, x))); });
  emit("forward_dynamics_derivatives_analytical", [&](Data& d) {
    pin::computeABADerivatives(m, d, q, v, x);
    return SX::horzcat({dense(d.ddq_dq), dense(d.ddq_dv), symmetric(d.Minv)}); });
  emit("forward_dynamics_derivatives_automatic", [&](Data& d) {
    return differentiated(dense(pin::aba(m, d, q, v, x, pin::Convention::LOCAL))); });
}
