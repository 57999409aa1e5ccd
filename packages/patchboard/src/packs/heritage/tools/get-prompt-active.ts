import { reason } from '@patchboard/wire';
import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { heritageTool, notFound, READS, type HeritageParts } from '../heritage-tool.ts';
import { PROMPT_TYPES, type PromptType } from '../records.ts';
import { described, inputOf, NAME, record, TEXTS } from '../tool-schemas.ts';

interface Input {
  readonly npc_id: string;
  readonly prompt_type?: PromptType;
}

export function getPromptActive(parts: HeritageParts): ServerTool {
  return heritageTool<Input>(parts, {
    name: 'get_prompt_active',
    category: 'npc',
    description: '获取 NPC 当前激活的 Prompt',
    annotations: READS,
    input: inputOf(
      {
        npc_id: described(NAME, 'NPC ID'),
        prompt_type: {
          enum: PROMPT_TYPES,
          description: 'Prompt 类型：system/greeting/fallback，默认 system',
        },
      },
      ['prompt_type'],
    ),
    output: record({
      npc_id: { type: 'string' },
      prompt_type: { enum: PROMPT_TYPES },
      prompt_text: { type: 'string' },
      version: { type: 'integer' },
      metadata: record({ name: { type: 'string' }, knowledge_domains: TEXTS }),
    }),
    run: async ({ npc_id: npcId, prompt_type: type = 'system' }, { storage, scope }) => {
      const prompt = await storage.activePrompt(scope, npcId, type);
      if (prompt === undefined) throw notFound(reason('heritage_prompt_unknown', { npc: npcId, type }));
      const profile = await storage.npcProfile(scope, npcId, null);
      return {
        npc_id: npcId,
        prompt_type: type,
        prompt_text: prompt.prompt_text,
        version: prompt.version,
        metadata: {
          name: profile?.name ?? npcId,
          knowledge_domains: profile?.knowledge_domains ?? [],
        },
      };
    },
  });
}
