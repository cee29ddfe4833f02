// MuJoCo's own step over a batch of states, one thread; the model says the method and the step.
#include <mujoco/mujoco.h>
#include <string.h>

// out: q and v of each state after the step
void step(const mjModel* m, mjData* d, long n, const double* q, const double* v, const double* tau, double* out)
{
  const long nq = m->nq, nv = m->nv;
  for (long i = 0; i < n; ++i, out += nq + nv) {
    memcpy(d->qpos, q + i * nq, sizeof(double) * nq);
    memcpy(d->qvel, v + i * nv, sizeof(double) * nv);
    memcpy(d->qfrc_applied, tau + i * nv, sizeof(double) * nv);
    mj_step(m, d);
    memcpy(out, d->qpos, sizeof(double) * nq);
    memcpy(out + nq, d->qvel, sizeof(double) * nv);
  }
}
