import { describe, expect, it } from 'vitest';
import { originFields } from './call-origin.ts';

describe('originFields', () => {
  it('has every member in snake case, those of one API too, and neither the trace context nor the hops', () => {
    const origin = {
      siteId: 's',
      userId: 'u',
      npcId: 'n',
      contextTraceId: 't',
      traceparent: '00-1-2-01',
      hops: 2,
      mcpClient: { name: 'claude-code', version: '2.1' },
      kiosk: 'k',
    };
    expect(Object.entries(originFields(origin))).toEqual([
      ['site_id', 's'],
      ['user_id', 'u'],
      ['npc_id', 'n'],
      ['context_trace_id', 't'],
      ['mcp_client', 'claude-code/2.1'],
      ['kiosk', 'k'],
    ]);
    expect(originFields({ mcpClient: { name: 'a', version: '' } })).toEqual({ mcp_client: 'a' });
    expect(originFields(null)).toEqual({});
  });
});
