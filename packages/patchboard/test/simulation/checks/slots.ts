import type { Check } from './check.ts';

/** When all is quiet, every slot is free, and every node can be stopped. See `probe.ts`. */
export const slots: Check = {
  name: 'slots',
  check: async ({ history, world }) => {
    const problems: string[] = [];
    for (const { who, data } of history.of('probe')) {
      const { tool, run, state } = data;
      // The run may have been cancelled.
      if (state !== 'EXECUTING' && state !== 'conflict')
        problems.push(
          `${who}: ${String(tool)} in ${String(run)} was ${String(state)}, and all slots should be free`,
        );
    }
    const drained = history.of('drained');
    if (drained.length !== world.nodes.length) problems.push(`${drained.length} nodes have stopped`);
    for (const { who, data } of drained)
      if (data['timers'] !== 0) problems.push(`${who} has stopped with ${String(data['timers'])} timers`);
    return problems;
  },
};
