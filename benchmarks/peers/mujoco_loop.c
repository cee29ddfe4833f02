// MuJoCo's functions over a batch of states, one thread: only the stages that each quantity needs.
#include <mujoco/mujoco.h>
#include <string.h>

static void place(const mjModel* m, mjData* d, const double* q)
{
  memcpy(d->qpos, q, sizeof(double) * m->nq);
  mj_kinematics(m, d);
  mj_comPos(m, d);
}

static void move(const mjModel* m, mjData* d, const double* v)
{
  memcpy(d->qvel, v, sizeof(double) * m->nv);
  mj_comVel(m, d);
}

// x: accelerations, or forces for forward dynamics
int run(const mjModel* m, mjData* d, int quantity, long n, const double* q, const double* v, const double* x, double* out)
{
  const long nq = m->nq, nv = m->nv;
  for (long i = 0; i < n; ++i) {
    place(m, d, q + i * nq);
    switch (quantity) {
    case 0:
      move(m, d, v + i * nv);
      memcpy(d->qacc, x + i * nv, sizeof(double) * nv);
      mj_rne(m, d, 1, out + i * nv);
      break;
    case 1:
      move(m, d, v + i * nv);
      mj_makeM(m, d);
      mj_factorM(m, d);
      mj_rne(m, d, 0, d->qfrc_bias);
      for (long k = 0; k < nv; ++k) d->qfrc_smooth[k] = x[i * nv + k] - d->qfrc_bias[k];
      mj_solveM(m, d, out + i * nv, d->qfrc_smooth, 1);
      break;
    case 2:
      mj_makeM(m, d);
      mj_fullM(m, d, out + i * nv * nv);
      break;
    default: return 1;
    }
  }
  return 0;
}
