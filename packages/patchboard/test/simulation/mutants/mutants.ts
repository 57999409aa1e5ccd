import { CLIENT_MUTANTS } from './client-mutants.ts';
import { CLUSTER_MUTANTS } from './cluster-mutants.ts';
import { FEW, MANY, type Mutant } from './mutant.ts';

const CALL_MUTANTS: readonly Mutant[] = [
  {
    name: 'returns a receipt before its commit',
    file: 'core/call/lifecycle.ts',
    find: 'return andThen(this.#writes.insertCall(kept), (inserted) => {',
    replace: `const writing = this.#writes.insertCall(kept);
      if (writing instanceof Promise) writing.catch(() => {});
      return andThen({ kind: 'inserted' } as Inserted, (inserted) => {`,
    seeds: FEW,
  },
  {
    name: 'runs a tool before EXECUTING is committed',
    file: 'core/providers/in-process-provider.ts',
    find: `if ((await this.#begin(live, tool)) && !this.#parts.lifecycle.isClosed)
          await this.#execute(live, tool);`,
    replace: `const begun = this.#begin(live, tool);
      await this.#execute(live, tool);
      await begun;`,
    seeds: FEW,
  },
  {
    name: 'shows a move before its commit',
    file: 'core/call/lifecycle.ts',
    find: 'const argsChanged = to.argsJson !== from.argsJson;',
    replace: `const argsChanged = to.argsJson !== from.argsJson;
      live.call = to;`,
    seeds: FEW,
  },
  {
    name: 'ignores that another writer was first',
    file: 'core/call/lifecycle.ts',
    find: "if (replaced.kind === 'conflict') return this.#shared.overtaken(live, from.version, replaced);",
    replace: '',
    seeds: MANY,
  },
  {
    name: 'runs an interrupted call again',
    file: 'core/providers/provider.ts',
    find: 'tool?.annotations.idempotent === true && attemptsOf(call)',
    replace: 'attemptsOf(call)',
    seeds: FEW,
  },
  {
    name: 'forgets the deadline of a recovered call',
    file: 'core/call/live-calls.ts',
    find: 'if (this.#fenced === null) this.#arm(live);',
    replace: "if (this.#fenced === null) live.ownership === 'adopted' ? undefined : this.#arm(live);",
    seeds: MANY,
  },
  {
    name: 'gives up a deadline whose write failed',
    file: 'core/call/lifecycle.ts',
    find: 'this.#calls.rearm(live, deadlineAt, PERSIST_RETRY_MS);',
    replace: '',
    seeds: MANY,
  },
  {
    name: 'ends a call at its deadline, but not its work',
    file: 'core/call/lifecycle.ts',
    find: `      live.ending -= 1;
    }
    live.stop.fire(outcome);`,
    replace: `      live.ending -= 1;
    }`,
    seeds: MANY,
  },
  {
    name: 'forgets to release the slot of an ended call',
    file: 'core/call/live-calls.ts',
    find: `live.release();
    live.release = nothing;`,
    replace: 'live.release = nothing;',
    seeds: FEW,
  },
  {
    name: 'forgets to release the slot of a call that was not recorded',
    file: 'core/steps/record-call.ts',
    find: `reservation.release();
      throw error;`,
    replace: 'throw error;',
    seeds: MANY,
  },
  {
    name: 'counts an ended call as open',
    file: 'core/call/live-calls.ts',
    find: 'this.open.remove(from);',
    replace: '',
    seeds: FEW,
  },
  {
    name: 'ignores an idempotency key',
    file: 'core/steps/record-call.ts',
    find: 'if (idempotencyKey === null) return null;',
    replace: 'return null;',
    seeds: FEW,
  },
  {
    name: 'returns the call of a key for another body',
    file: 'core/steps/record-call.ts',
    find: 'if (inserted.bodyHash !== this.#bodyHash(given))',
    replace: 'if (false)',
    seeds: MANY,
  },
  {
    name: 'records other arguments than the approved ones',
    file: 'core/steps/approvals.ts',
    find: '{ approval, argsJson, rows',
    replace: '{ approval, rows',
    seeds: MANY,
  },
  {
    name: 'runs the arguments from before the edit',
    file: 'core/providers/local-runner.ts',
    find: 'JSON.parse(live.call.argsJson)',
    replace: 'JSON.parse(live.call.approval?.originalArgsJson ?? live.call.argsJson)',
    seeds: MANY,
  },
  {
    name: 'does not wake the waits for an ended call',
    file: 'core/steps/call-notifier.ts',
    find: `this.#waiters.wake(call);
    for (const listener of this.#endedListeners)`,
    replace: 'for (const listener of this.#endedListeners)',
    seeds: MANY,
  },
  {
    name: 'cancels a run without closing it',
    file: 'core/call/runs.ts',
    find: 'await store.cancelRun(tenant, id, at, row);',
    replace: '',
    seeds: MANY,
  },
  {
    name: 'leaves a move out of the ledger',
    file: 'core/call/lifecycle.ts',
    find: 'if (entry !== undefined) rows.push(',
    replace: "if (entry !== undefined && state.name !== 'EXECUTING') rows.push(",
    seeds: FEW,
  },
];

export const MUTANTS: readonly Mutant[] = [...CALL_MUTANTS, ...CLUSTER_MUTANTS, ...CLIENT_MUTANTS];
