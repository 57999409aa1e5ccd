import { isOpen } from '../../../src/core/call/call.ts';
import type { Engine } from '../../../src/core/engine.ts';
import { storedCalls, type Check } from './check.ts';

/** When all is quiet, every call has ended, every request has its response, and no engine holds anything. */
export const quiet: Check = {
  name: 'quiet',
  readsEngines: true,
  check: async ({ world, store }) => {
    const problems: string[] = [];
    for (const call of await storedCalls(store))
      if (isOpen(call)) problems.push(`${call.id} is still ${call.state.name}`);
    if (world.performing > 0) problems.push(`${world.performing} steps have not ended`);
    for (const { incarnations, process: current } of world.nodes)
      for (const { process, engine } of incarnations) {
        if (process.isDead) continue;
        if (process === current && engine.isDraining) problems.push(`${process.name} refuses calls`);
        const { open, waitingForSlot, executing } = engine.load();
        // A node with peers polls all the time; `slots` looks at its timers when it has stopped.
        // The last uses of keys are written up to ten seconds later.
        const expected = world.profile.hasKeys ? 1 : 0;
        const timers = world.nodes.length > 1 ? 0 : Math.max(0, process.clock.armed - expected);
        const held = { open, waitingForSlot, executing, timers, ...listeners(engine), ...queueOf(engine) };
        for (const [what, count] of Object.entries(held))
          if (count !== 0) problems.push(`${process.name} holds ${what}: ${count}`);
      }
    return problems;
  },
};

function listeners({ feed }: { readonly feed: { readonly listenerCount: number } }): { listeners: number } {
  return { listeners: feed.listenerCount };
}

/** Of the client that the actor `client-queues` simulates. */
function queueOf({ clientQueues }: Engine): { queued: number; connections: number } {
  return {
    queued: clientQueues.waiting('default', 'desk').length,
    connections: clientQueues.connectionsOf('default', 'desk'),
  };
}
