import assert from 'node:assert/strict';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  type RawClientDispatch,
} from '@modelcontextprotocol/ext-tasks/client';
import type { Client, Target } from '../client-run.ts';
import { textOf, type ToolResult } from '../steps.ts';

const REVISION = '2026-07-28';
const INFO = { name: 'interop', version: '1.0.0' };
const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** The SDK's client does not know results that are tasks, so their requests are sent without it. */
function dispatchTo(url: string): RawClientDispatch {
  let id = 0;
  return async (request, { signal } = {}) => {
    const { method, params } = request as { method: string; params: { name?: string; taskId?: string } };
    const name = params.name ?? params.taskId;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': REVISION,
        'mcp-method': method,
        ...(name === undefined ? {} : { 'mcp-name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: (id += 1), ...(request as object) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    const { result, error } = JSON.parse(data) as { result?: unknown; error?: unknown };
    return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
  };
}

async function run({ mcpUrl }: Target): Promise<void> {
  const mcp = new McpClient(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: { pin: REVISION } },
  });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
  const session = createTaskSessionFromClient(mcp, {
    endpointId: 'patchboard',
    rawDispatch: dispatchTo(mcpUrl),
    v2RequestFraming: { protocolVersion: REVISION, clientInfo: INFO, clientCapabilities: CAPABILITIES },
  });
  const settled = async (
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<[string, ToolResult]> => {
    const execution = await session.callTool(name, args);
    const { outcome } = await execution.settle();
    return [execution.kind, resultFromTaskOutcome(outcome) as ToolResult];
  };
  try {
    const [greeting, greeted] = await settled('greet', { name: 'Ada' });
    assert.equal(greeting, 'immediate');
    assert.equal(textOf(greeted), 'Hello, Ada!');
    const [job, report] = await settled('report_job', {});
    assert.equal(job, 'task');
    assert.equal(textOf(report), 'The report is ready.');
    const [failing, failed] = await settled('failing_job', {});
    assert.equal(failing, 'task');
    assert.equal(failed.isError, true);
  } finally {
    await session.close();
    await mcp.close();
  }
}

export const client: Client = {
  package: '@modelcontextprotocol/ext-tasks',
  runs: [{ era: 'modern', transport: 'http', does: 'a result at once, a task, a task that fails', run }],
};
