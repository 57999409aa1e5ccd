import type { Check } from './check.ts';

/**
 * A process that stood still begins nothing that another one has taken over: once a call is sealed as interrupted, its tool
 * does not begin.
 */
export const lease: Check = {
  name: 'lease',
  check: async ({ world, history }) => {
    // A single node has no lease: its store knows one process at a time.
    if (world.profile.nodes === 1) return [];
    return history.of('tool begins').flatMap(({ at, who, data }) => {
      const id = String(data['call']);
      const sealedAt = world.database.sealed.get(id);
      if (sealedAt === undefined || sealedAt >= at) return [];
      return [
        `${String(data['tool'])} began on ${who} ${Math.round(at - sealedAt)} ms after ${id} was sealed`,
      ];
    });
  },
};
