import type { CallStateEvent } from '@patchboard/wire';
import { computed, ref } from 'vue';
import { describe, expect, it } from 'vitest';
import { callOfEvent, type TracedCall } from './traced-call.ts';
import { aTracedCall } from './traced-call.samples.ts';
import { useTracedCalls } from './traced-calls.ts';

function anEvent(id: string, state: CallStateEvent['state'], at: number, more: Partial<CallStateEvent> = {}) {
  return {
    tool_call_id: id,
    run_id: 'run',
    tool_name: 'toy.echo',
    agent_id: 'planner',
    state,
    status: 'PENDING',
    at: new Date(at).toISOString(),
    ...more,
  } satisfies CallStateEvent;
}

function aList(paged: readonly TracedCall[], hasMore = false) {
  const rows = ref(paged);
  const isWhole = ref(!hasMore);
  const list = useTracedCalls({
    paged: computed(() => rows.value),
    isWhole: computed(() => isWhole.value),
    isOwn: ({ run_id: run }) => run === 'run',
  });
  const statesOf = (id: string): string[] | undefined =>
    list.byId.value.get(id)?.steps.map(({ state }) => state);
  return { list, rows, isWhole, statesOf };
}

describe('a list of traced calls', () => {
  it('adds the step of an event, but not one that the record has, an older one, or one after the end', () => {
    const { list, statesOf } = aList([aTracedCall('a', { states: [['PENDING', 10]] })]);
    list.apply([anEvent('a', 'PENDING', 10), anEvent('a', 'EXECUTING', 10, { attempt: 1 })]);
    list.apply([anEvent('a', 'PENDING', 10), anEvent('a', 'APPROVAL_REQUIRED', 5)]);
    expect(statesOf('a')).toEqual(['PENDING', 'EXECUTING']);
    list.apply([anEvent('a', 'FAILED', 30, { code: 'tool_failed' }), anEvent('a', 'EXECUTING', 40)]);
    expect(list.byId.value.get('a')).toMatchObject({ state: 'FAILED', code: 'tool_failed' });
    expect(statesOf('a')).toEqual(['PENDING', 'EXECUTING', 'FAILED']);
  });

  it('shows new calls of the run once all pages are loaded, and children of shown calls at once', () => {
    const { list, isWhole } = aList([aTracedCall('a')], true);
    const unknown = list.apply([
      anEvent('new', 'PENDING', 50),
      anEvent('child', 'PENDING', 50, { run_id: 'of a sub-agent', parent_call_id: 'a' }),
      anEvent('foreign', 'PENDING', 50, { run_id: 'another' }),
    ]);
    expect(unknown.map(({ tool_call_id: id }) => id)).toEqual(['foreign']);
    expect([...list.byId.value.keys()].sort()).toEqual(['a', 'child']);
    isWhole.value = true;
    expect([...list.byId.value.keys()].sort()).toEqual(['a', 'child', 'new']);
  });

  it('prefers the record that knows more, whichever was first', () => {
    const { list, rows, statesOf } = aList([]);
    list.apply([anEvent('a', 'EXECUTING', 20)]);
    const ended = aTracedCall('a', {
      states: [
        ['PENDING', 10],
        ['EXECUTING', 20],
        ['COMPLETED', 30],
      ],
    });
    rows.value = [ended];
    expect(statesOf('a')).toEqual(['PENDING', 'EXECUTING', 'COMPLETED']);
    list.add([callOfEvent(anEvent('a', 'EXECUTING', 20))]);
    expect(statesOf('a')).toHaveLength(3);
    expect(list.calls.value).toHaveLength(1);
  });
});
