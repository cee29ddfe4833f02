// C source by CasADi of a step of the classical Runge-Kutta method by Pinocchio's forward dynamics on CasADi's symbols:
// casadi_step ROWS_FILE FOLDER STEP_SIZE. Each function maps (q, v, tau) to the matrix (q, v) after the step.
#include "pinocchio/autodiff/casadi.hpp"
#include "pinocchio_model.hpp"
#include "pinocchio/algorithm/aba.hpp"
#include <casadi/casadi.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

namespace pin = pinocchio;
typedef casadi::SX SX;
typedef pin::ModelTpl<SX> Model;
typedef pin::DataTpl<SX> Data;
typedef Eigen::Matrix<SX, Eigen::Dynamic, 1> Vector;

static Vector entries(const SX& x)
{
  Vector v(x.size1());
  for (int i = 0; i < x.size1(); ++i) v[i] = x(i);
  return v;
}

static SX column(const Vector& v)
{
  SX x(casadi::Sparsity::dense(v.size(), 1));
  for (int i = 0; i < v.size(); ++i) x(i) = v[i];
  return x;
}

int main(int argc, char** argv)
{
  if (argc != 4) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const double h = std::stod(argv[3]);
  const Model m = model_of(long(bytes.size() / sizeof(double)) / ROW, reinterpret_cast<const double*>(bytes.data())).cast<SX>();
  const SX q = SX::sym("q", m.nq), v = SX::sym("v", m.nv), tau = SX::sym("tau", m.nv);
  for (const bool world : {false, true}) {
    const auto forward = [&](const SX& q, const SX& v) {
      Data d(m);
      return column(pin::aba(m, d, entries(q), entries(v), entries(tau), world ? pin::Convention::WORLD : pin::Convention::LOCAL));
    };
    const SX a1 = forward(q, v), v2 = v + h / 2 * a1;
    const SX a2 = forward(q + h / 2 * v, v2), v3 = v + h / 2 * a2;
    const SX a3 = forward(q + h / 2 * v2, v3), v4 = v + h * a3;
    const SX a4 = forward(q + h * v3, v4);
    const SX next = SX::horzcat({q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)});
    const std::string name = world ? "rk4_step_world" : "rk4_step_local";
    const casadi::Function f(name, {q, v, tau}, {SX::densify(next)});
    casadi::CodeGenerator generator(name + ".c", {{"with_header", false}});
    generator.add(f);
    generator.generate(std::string(argv[2]) + "/");
    std::cout << name << ' ' << f.n_instructions() << std::endl;
  }
}
