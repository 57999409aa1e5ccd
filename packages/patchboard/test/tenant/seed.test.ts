import { reason } from '@patchboard/wire';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment, startServer, type ServerProcess } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';

/** The first description of this API came with these commands. They stay as they were written: only the port differs. */
const LIST = `curl -X POST http://localhost:8000/api/tools/list \\
  -H "Content-Type: application/json" \\
  -H "X-Tenant-ID: yantian" \\
  -H "X-Site-ID: yantian-main" \\
  -H "X-Trace-ID: trace-$(date +%s)" \\
  -d '{"ai_callable_only": true}'`;

const SEARCH = `curl -X POST http://localhost:8000/api/tools/call \\
  -H "Content-Type: application/json" \\
  -H "X-Tenant-ID: yantian" \\
  -H "X-Site-ID: yantian-main" \\
  -H "X-Trace-ID: trace-$(date +%s)" \\
  -d '{
    "tool_name": "search_content",
    "input": {
      "query": "严氏家训",
      "limit": 5
    },
    "context": {
      "tenant_id": "yantian",
      "site_id": "yantian-main",
      "trace_id": "trace-001"
    }
  }'`;

const NPC = `curl -X POST http://localhost:8000/api/tools/call \\
  -H "Content-Type: application/json" \\
  -H "X-Tenant-ID: yantian" \\
  -H "X-Site-ID: yantian-main" \\
  -H "X-Trace-ID: trace-$(date +%s)" \\
  -d '{
    "tool_name": "get_npc_profile",
    "input": {
      "npc_id": "ancestor_yan"
    },
    "context": {
      "tenant_id": "yantian",
      "site_id": "yantian-main",
      "trace_id": "trace-002"
    }
  }'`;

const DRAFT = `curl -X POST http://localhost:8000/api/tools/call \\
  -H "Content-Type: application/json" \\
  -H "X-Tenant-ID: yantian" \\
  -H "X-Site-ID: yantian-main" \\
  -H "X-Trace-ID: trace-$(date +%s)" \\
  -d '{
    "tool_name": "create_draft_content",
    "input": {
      "content_type": "knowledge",
      "title": "严田村古井传说",
      "body": "村中心的古井相传有千年历史...",
      "tags": ["传说", "古井"]
    },
    "context": {
      "tenant_id": "yantian",
      "site_id": "yantian-main",
      "trace_id": "trace-003"
    }
  }'`;

const PROMPT = `curl -X POST http://localhost:8000/api/tools/call \\
  -H "Content-Type: application/json" \\
  -H "X-Tenant-ID: yantian" \\
  -H "X-Site-ID: yantian-main" \\
  -H "X-Trace-ID: trace-$(date +%s)" \\
  -d '{
    "tool_name": "get_prompt_active",
    "input": {
      "npc_id": "ancestor_yan",
      "prompt_type": "system"
    },
    "context": {
      "tenant_id": "yantian",
      "site_id": "yantian-main",
      "trace_id": "trace-004"
    }
  }'`;

type JsonObject = Readonly<Record<string, unknown>>;

const text = expect.any(String) as unknown;

function auditOf(toolName: string, contextTraceId: string): JsonObject {
  return {
    trace_id: expect.stringMatching(/^trace-\d+$/) as unknown,
    tool_name: toolName,
    status: 'success',
    latency_ms: expect.any(Number) as unknown,
    request_payload_hash: expect.stringMatching(/^[0-9a-f]{8}$/) as unknown,
    tool_call_id: expect.stringMatching(/^tc_/) as unknown,
    context_trace_id: contextTraceId,
  };
}

describe('the tool service examples on a fresh start', () => {
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  async function type(command: string): Promise<JsonObject> {
    const words = command.replaceAll('localhost:8000', `localhost:${server.port}`);
    const { code, out, error } = await runCommand('bash', ['-c', words], {
      cwd: tmpdir(),
      env: cleanEnvironment(),
    });
    if (code !== 0) throw new Error(`exit code ${code}: ${error}`);
    return JSON.parse(out) as JsonObject;
  }

  it('list the six tools of the tenant, whole', async () => {
    const response = await type(LIST);
    expect(response).toEqual({ tools: expect.any(Array) as unknown, total: 6 });
    expect(response['tools']).toContainEqual({
      name: 'get_npc_profile',
      version: '1.0.0',
      description: '获取 NPC 人设配置',
      category: 'npc',
      input_schema: expect.objectContaining({ required: ['npc_id'] }) as unknown,
      output_schema: expect.objectContaining({ type: 'object' }) as unknown,
      requires_auth: true,
      ai_callable: true,
    });
  });

  it('find the family rules', async () => {
    const response = await type(SEARCH);
    expect(response).toEqual({
      success: true,
      output: { items: expect.any(Array) as unknown, total: 3, query: '严氏家训' },
      audit: auditOf('search_content', 'trace-001'),
    });
    const { items } = response['output'] as { items: JsonObject[] };
    expect(items[0]).toMatchObject({
      id: text,
      content_type: 'knowledge',
      title: '严氏家训十则',
      body: text,
      credibility_score: 0.98,
      verified: true,
    });
  });

  it('show a character', async () => {
    expect(await type(NPC)).toEqual({
      success: true,
      output: {
        npc_id: 'ancestor_yan',
        version: 1,
        active: true,
        name: '严氏先祖',
        persona: expect.any(Object) as unknown,
        knowledge_domains: ['严氏家族历史', '祖训家规'],
        greeting_templates: expect.arrayContaining([expect.stringMatching(/^后生来了？/)]) as unknown,
        max_response_length: 500,
        must_cite_sources: true,
      },
      audit: auditOf('get_npc_profile', 'trace-002'),
    });
  });

  it('make a draft', async () => {
    expect(await type(DRAFT)).toEqual({
      success: true,
      output: {
        content_id: text,
        status: 'draft',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
      },
      audit: auditOf('create_draft_content', 'trace-003'),
    });
  });

  it('show a prompt', async () => {
    expect(await type(PROMPT)).toEqual({
      success: true,
      output: {
        npc_id: 'ancestor_yan',
        prompt_type: 'system',
        prompt_text: expect.stringMatching(/^你是严氏先祖/) as unknown,
        version: 1,
        metadata: {
          name: '严氏先祖',
          knowledge_domains: expect.arrayContaining(['严氏家族历史']) as unknown,
        },
      },
      audit: auditOf('get_prompt_active', 'trace-004'),
    });
  });

  it('say which character is not there, with the kind of error and the audit', async () => {
    const message = 'NPC profile not found: unknown_npc';
    const response = await type(NPC.replace('"ancestor_yan"', '"unknown_npc"'));
    expect(response).toEqual({
      success: false,
      error: message,
      reasons: [reason('heritage_profile_unknown', { npc: 'unknown_npc' })],
      error_type: 'ValueError',
      audit: {
        ...auditOf('get_npc_profile', 'trace-002'),
        status: 'error',
        error_type: 'ValueError',
        error_message: message,
      },
    });
  });

  it('work without /api, too', async () => {
    expect(await type(LIST.replace('/api/tools', '/tools'))).toMatchObject({ total: 6 });
    expect(await type(SEARCH.replace('/api/tools', '/tools'))).toMatchObject({ success: true });
  });

  it('leave a line in the log with trace, tenant and site', async () => {
    const line = await waitFor(() => {
      const found = server
        .log()
        .split('\n')
        .find((candidate) => candidate.includes('"search_content"'));
      if (found === undefined) throw new Error('not written yet');
      return JSON.parse(found) as JsonObject;
    });
    expect(line).toMatchObject({
      event: 'tool_call_success',
      trace_id: expect.stringMatching(/^trace-\d+$/) as unknown,
      tool_name: 'search_content',
      tenant_id: 'yantian',
      site_id: 'yantian-main',
      latency_ms: expect.any(Number) as unknown,
      timestamp: text,
    });
  });
});
