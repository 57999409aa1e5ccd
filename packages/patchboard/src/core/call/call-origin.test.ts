import { describe, expect, it } from 'vitest';
import { originFields } from './call-origin.ts';

describe('originFields', () => {
  it('has every member in snake case, those of one API too, and not the trace context', () => {
    const origin = {
      siteId: 's',
      userId: 'u',
      npcId: 'n',
      contextTraceId: 't',
      traceparent: '00-1-2-01',
      kiosk: 'k',
    };
    expect(Object.entries(originFields(origin))).toEqual([
      ['site_id', 's'],
      ['user_id', 'u'],
      ['npc_id', 'n'],
      ['context_trace_id', 't'],
      ['kiosk', 'k'],
    ]);
    expect(originFields(null)).toEqual({});
  });
});
