import { describe, expect, it } from 'vitest';
import type { McpRequest, McpResponse } from './mcp-connection.ts';
import { readTools } from './tool-listing.ts';

const { signal } = new AbortController();

/** A server whose page depends on the cursor. */
function pages(page: (cursor: string | undefined, count: number) => object): {
  readonly requests: McpRequest[];
  request(request: McpRequest): Promise<McpResponse>;
} {
  const requests: McpRequest[] = [];
  return {
    requests,
    request: async (request) => {
      requests.push(request);
      const result = page(request.params['cursor'] as string | undefined, requests.length);
      return { kind: 'result', result: result as Readonly<Record<string, unknown>> };
    },
  };
}

const toolsNamed = (from: number, count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ name: `t${from + index}` }));

describe('reading the tools', () => {
  it('reads all pages and leaves out what is no object', async () => {
    const server = pages((cursor) =>
      cursor === undefined
        ? { tools: [{ name: 'a' }, null, 'b', []], nextCursor: 'two', ttlMs: 5 }
        : { tools: [{ name: 'c' }] },
    );
    const listing = await readTools(server, signal);
    expect(listing).toEqual({
      tools: [{ name: 'a' }, { name: 'c' }],
      omitted: 0,
      isComplete: true,
      ttlMs: 5,
    });
    expect(server.requests.map(({ params }) => params)).toEqual([{}, { cursor: 'two' }]);
  });

  it('keeps 500 tools and counts the others', async () => {
    const server = pages((cursor) =>
      cursor === undefined
        ? { tools: toolsNamed(0, 400), nextCursor: 'two' }
        : { tools: toolsNamed(400, 250) },
    );
    const listing = await readTools(server, signal);
    expect([listing.tools.length, listing.omitted, listing.isComplete]).toEqual([500, 150, true]);
    expect(listing.tools.at(-1)).toEqual({ name: 't499' });
  });

  it('ends after 50 pages', async () => {
    const server = pages((_, count) => ({ tools: [{ name: `t${count}` }], nextCursor: String(count) }));
    const listing = await readTools(server, signal);
    expect([listing.tools.length, listing.isComplete]).toEqual([50, false]);
  });

  it('ends at a cursor that was there before', async () => {
    const server = pages(() => ({ tools: [{ name: 'a' }], nextCursor: 'same' }));
    const listing = await readTools(server, signal);
    expect([listing.tools.length, listing.isComplete]).toEqual([2, false]);
  });

  it('ends when the pages are too large together', async () => {
    const large = 'x'.repeat(6 * 1024 * 1024);
    const server = pages((_, count) => ({ tools: [{ name: 'a', large }], nextCursor: String(count) }));
    const listing = await readTools(server, signal);
    expect([listing.tools.length, listing.isComplete]).toEqual([3, false]);
  });

  it('rejects an error and a response without tools', async () => {
    const failing = {
      request: async (): Promise<McpResponse> => ({
        kind: 'error',
        code: -32_601,
        message: 'no',
        data: null,
      }),
    };
    await expect(readTools(failing, signal)).rejects.toThrow('tools/list failed: no (-32601)');
    await expect(
      readTools(
        pages(() => ({ tools: 'x' })),
        signal,
      ),
    ).rejects.toThrow('no array "tools"');
  });
});
