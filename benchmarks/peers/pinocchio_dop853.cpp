// Closed loops by Pinocchio's constraint dynamics under DOP853 with step control, a program of its own.
// Input: a file as `loop_engines.py` writes it, tolerance, frequency of Baumgarte's stabilisation [1/s],
// proximal parameter, most iterations, longest time [s]. Output: seconds, steps, 1 if cut, then q.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/constraint-cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/proximal.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "dop853.h"

using namespace pinocchio;
using V = Eigen::VectorXd;
using V3 = Eigen::Vector3d;

struct Spring { int body; V3 point, anchor; double stiffness, length; };

static V3 three(std::ifstream &in) { V3 v; in >> v[0] >> v[1] >> v[2]; return v; }

int main(int, char **argv) {
    std::ifstream in(argv[1]);
    const double tolerance = std::atof(argv[2]), frequency = std::atof(argv[3]), mu = std::atof(argv[4]);
    const int most = std::atoi(argv[5]);
    const double limit = std::atof(argv[6]);
    int bodies, closures, springs;
    double duration;
    in >> bodies >> closures >> springs >> duration;
    Model model;
    model.gravity.linear(three(in));
    std::vector<JointIndex> id(bodies);
    for (int i = 0; i < bodies; ++i) {
        int parent, slides;
        double mass;
        in >> parent >> slides;
        const V3 axis = three(in), position = three(in);
        in >> mass;
        const V3 com = three(in), moments = three(in);
        const int k = axis[0] > .5 ? 0 : axis[1] > .5 ? 1 : 2;
        JointModel joint;
        if (slides) { if (k == 0) joint = JointModelPX(); else if (k == 1) joint = JointModelPY(); else joint = JointModelPZ(); }
        else { if (k == 0) joint = JointModelRX(); else if (k == 1) joint = JointModelRY(); else joint = JointModelRZ(); }
        id[i] = model.addJoint(parent < 0 ? 0 : id[parent], joint, SE3(Eigen::Matrix3d::Identity(), position), "j" + std::to_string(i));
        model.appendBodyToJoint(id[i], Inertia(mass, com, moments.asDiagonal().toDenseMatrix()), SE3::Identity());
    }
    std::vector<RigidConstraintModel> rows;
    std::vector<RigidConstraintData> rows_data;
    for (int i = 0; i < closures; ++i) {
        int a, b;
        in >> a;
        const V3 at = three(in);
        in >> b;
        const V3 on = three(in);
        RigidConstraintModel row(CONTACT_3D, model, a < 0 ? 0 : id[a], SE3(Eigen::Matrix3d::Identity(), at),
                                 b < 0 ? 0 : id[b], SE3(Eigen::Matrix3d::Identity(), on), LOCAL);
        row.m_baumgarte_parameters.Kp = frequency * frequency;
        row.m_baumgarte_parameters.Kd = 2 * frequency;
        rows.push_back(row);
    }
    std::vector<Spring> pulls(springs);
    for (auto &s : pulls) {
        in >> s.body;
        s.point = three(in);
        s.anchor = three(in);
        in >> s.stiffness >> s.length;
    }
    const int n = model.nv;
    V constant(n), y(2 * n);
    for (int i = 0; i < n; ++i) in >> constant[i];
    for (int i = 0; i < 2 * n; ++i) in >> y[i];
    Data data(model);
    for (auto &row : rows) rows_data.push_back(row.createData());
    initConstraintDynamics(model, data, rows, rows_data);
    ProximalSettings settings(1e-13, mu, most);
    V tau(n);
    auto rate = [&](const V &state, V &result) {
        const V q = state.head(n), v = state.tail(n);
        tau = constant;
        for (auto &s : pulls) {
            const double c = std::cos(q[s.body]), z = std::sin(q[s.body]);
            const V3 r(c * s.point[0] - z * s.point[1], z * s.point[0] + c * s.point[1], 0);
            const V3 d = model.jointPlacements[id[s.body]].translation() + r - s.anchor;
            const V3 force = -s.stiffness * (d.norm() - s.length) / d.norm() * d;
            tau[s.body] += r[0] * force[1] - r[1] * force[0];
        }
        result.head(n) = v;
        result.tail(n) = constraintDynamics(model, data, q, v, tau, rows, rows_data, settings);
    };
    std::vector<V> k(12, V(2 * n));
    V stage(2 * n), next(2 * n);
    double t = 0, h = 1e-4 * duration;
    long steps = 0;
    bool cut = false;
    const clock_t start = std::clock();
    rate(y, k[0]);
    while (t < duration) {
        if (t + h > duration) h = duration - t;
        for (int i = 1; i < 12; ++i) {
            stage = y;
            for (int j = 0; j < i; ++j) if (A8[i][j] != 0) stage.noalias() += (h * A8[i][j]) * k[j];
            rate(stage, k[i]);
        }
        next = y;
        for (int j = 0; j < 12; ++j) if (B8[j] != 0) next.noalias() += (h * B8[j]) * k[j];
        double e5 = 0, e3 = 0;
        for (int i = 0; i < 2 * n; ++i) {
            double a5 = 0, a3 = 0;
            for (int j = 0; j < 12; ++j) { a5 += E5[j] * k[j][i]; a3 += E3[j] * k[j][i]; }
            const double scale = tolerance + tolerance * std::max(std::abs(y[i]), std::abs(next[i]));
            e5 += (a5 / scale) * (a5 / scale);
            e3 += (a3 / scale) * (a3 / scale);
        }
        const double sum = e5 + .01 * e3, error = sum > 0 ? h * e5 / std::sqrt(sum * 2 * n) : 0;
        if (error < 1) {
            t += h;
            ++steps;
            y = next;
            rate(y, k[0]);
            h *= error == 0 ? 10 : std::min(10., .9 * std::pow(error, -1. / 8));
        } else {
            h *= error == error ? std::max(.2, .9 * std::pow(error, -1. / 8)) : .2;
        }
        if (steps > 300000 || double(std::clock() - start) / CLOCKS_PER_SEC > limit) { cut = true; break; }
    }
    std::printf("%.9g %ld %d\n", double(std::clock() - start) / CLOCKS_PER_SEC, steps, int(cut));
    for (int i = 0; i < n; ++i) std::printf("%.17g ", y[i]);
    std::puts("");
}
