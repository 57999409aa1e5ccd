import type { Check, Evidence } from './check.ts';

/**
 * A process that stood still begins nothing that another one has taken over: once a call is sealed as interrupted, its tool
 * does not begin. Nothing that it writes is committed, and a process that knows that it was taken over stops its work.
 */
export const lease: Check = {
  name: 'lease',
  check: async (evidence) => [...begunLate(evidence), ...writtenLate(evidence), ...workOfFenced(evidence)],
};

function begunLate({ world, history }: Evidence): string[] {
  // A single node has no lease: its store knows one process at a time.
  if (world.profile.nodes === 1) return [];
  return history.of('tool begins').flatMap(({ at, who, data }) => {
    const id = String(data['call']);
    const sealedAt = world.database.sealed.get(id);
    if (sealedAt === undefined || sealedAt >= at) return [];
    return [`${String(data['tool'])} began on ${who} ${Math.round(at - sealedAt)} ms after ${id} was sealed`];
  });
}

function writtenLate({ world }: Evidence): string[] {
  return world.database.takeovers.lateWrites.map(
    ({ process, method, lateMs }) =>
      `${method} of ${process} was committed ${Math.round(lateMs)} ms after it was taken over`,
  );
}

function workOfFenced({ history }: Evidence): string[] {
  const fenced = new Map(history.of('fenced').map(({ who, at }) => [who, at]));
  return history.of('tool acts').flatMap(({ at, who, data }) => {
    const since = fenced.get(who);
    if (since === undefined || at <= since || data['tool'] === 'server.stubborn') return [];
    return [`${String(data['tool'])} acted on ${who} ${Math.round(at - since)} ms after it was fenced`];
  });
}
