import { reason } from '@patchboard/wire';
import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { heritageTool, notFound, READS, type HeritageParts } from '../heritage-tool.ts';
import { described, inputOf, NAME, record, TEXTS } from '../tool-schemas.ts';

interface Input {
  readonly npc_id: string;
  readonly version?: number;
}

export function getNpcProfile(parts: HeritageParts): ServerTool {
  return heritageTool<Input>(parts, {
    name: 'get_npc_profile',
    category: 'npc',
    description: '获取 NPC 人设配置',
    annotations: READS,
    input: inputOf(
      {
        npc_id: described(NAME, 'NPC ID'),
        version: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000_000,
          description: '指定版本号，不填则返回 active 版本',
        },
      },
      ['version'],
    ),
    output: record({
      npc_id: { type: 'string' },
      version: { type: 'integer' },
      active: { type: 'boolean' },
      name: { type: 'string' },
      persona: { type: 'object' },
      knowledge_domains: TEXTS,
      greeting_templates: TEXTS,
      max_response_length: { type: 'integer' },
      must_cite_sources: { type: 'boolean' },
    }),
    run: async ({ npc_id: npcId, version = null }, { storage, scope }) => {
      const profile = await storage.npcProfile(scope, npcId, version);
      if (profile !== undefined) return profile;
      throw notFound(
        version === null
          ? reason('heritage_profile_unknown', { npc: npcId })
          : reason('heritage_version_unknown', { npc: npcId, version: String(version) }),
      );
    },
  });
}
