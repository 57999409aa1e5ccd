import { MANY, type Mutant } from './mutant.ts';

/** Faults of devices, queues of clients and agents whose calls pass between nodes. */
export const CLIENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'keeps a device reserved for a call that it lost',
    file: 'core/devices/device-provider.ts',
    find: `this.releaseDevice(device);
        // A response`,
    replace: '// A response',
    seeds: MANY,
  },
  {
    name: 'delivers a queued call that another node delivers',
    file: 'core/devices/client-calls-elsewhere.ts',
    find: 'if (await lifecycle.claim(live)) clientQueues.put(live, isPolled);',
    replace: 'clientQueues.put(live, isPolled);',
    seeds: MANY,
  },
  {
    name: 'takes a queued call that another node has taken since',
    file: 'core/devices/client-calls-elsewhere.ts',
    find: 'if (call?.version === version) await',
    replace: 'if (call !== undefined) await',
    seeds: MANY,
  },
  {
    name: 'does not wake the node that has the stream of a client',
    file: 'core/devices/client-queues.ts',
    find: 'this.#parts.peers.wakeClient(live.call);',
    replace: '',
    seeds: MANY,
  },
  {
    name: 'writes a journal that another process continues',
    file: 'agent/memory/journal.ts',
    find: 'if (!(await this.#appended(entries))) throw takenOver(this.id);',
    replace: 'await this.#appended(entries);',
    seeds: MANY,
  },
  {
    name: 'goes on although the journal was not written',
    file: 'agent/memory/journal.ts',
    find: `throw new AgentError(failure('internal', reason('agent_not_written', { error: messageOf(error) })), {
        cause: error,
      });`,
    replace: 'return true;',
    seeds: MANY,
  },
];
