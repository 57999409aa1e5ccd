import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { heritageTool, idFrom, WRITES, type HeritageParts } from '../heritage-tool.ts';
import { described, inputOf, NAME, NAMES, record, textUpTo, TIME } from '../tool-schemas.ts';

interface Input {
  readonly content_type: string;
  readonly title: string;
  readonly body: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly domains?: readonly string[];
  readonly source?: string;
}

export function createDraftContent(parts: HeritageParts): ServerTool {
  return heritageTool<Input>(parts, {
    name: 'create_draft_content',
    category: 'content',
    description: '创建草稿内容',
    annotations: WRITES,
    input: inputOf(
      {
        content_type: described(NAME, '内容类型'),
        title: textUpTo(200, '标题'),
        body: textUpTo(50_000, '正文'),
        summary: textUpTo(1000, '摘要'),
        tags: described(NAMES, '标签'),
        domains: described(NAMES, '知识领域'),
        source: textUpTo(500, '来源'),
      },
      ['summary', 'tags', 'domains', 'source'],
    ),
    output: record({ content_id: { type: 'string' }, status: { const: 'draft' }, created_at: TIME }),
    run: async (input, { storage, scope, context, now }) => {
      const draft = await storage.addContent(scope, {
        id: idFrom('content', context),
        content_type: input.content_type,
        title: input.title,
        body: input.body,
        summary: input.summary ?? null,
        tags: input.tags ?? [],
        domains: input.domains ?? [],
        source: input.source ?? null,
        credibility_score: null,
        verified: false,
        status: 'draft',
        created_at: now,
      });
      return { content_id: draft.id, status: draft.status, created_at: draft.created_at };
    },
  });
}
