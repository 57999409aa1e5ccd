import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { heritageTool, READS, type HeritageParts } from '../heritage-tool.ts';
import type { ContentItem } from '../records.ts';
import { described, inputOf, NAME, NAMES, nullable, record, TEXTS, textUpTo, TIME } from '../tool-schemas.ts';

interface Input {
  readonly query: string;
  readonly content_type?: string;
  readonly tags?: readonly string[];
  readonly status?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;
/** Fifty long texts would exceed the size limit of a result: beyond this total, only the beginnings are returned. */
const WHOLE_TEXT_CHARACTERS = 150_000;
const BEGINNING_CHARACTERS = 500;

const ITEM = record(
  {
    id: { type: 'string' },
    content_type: { type: 'string' },
    title: { type: 'string' },
    body: { type: 'string' },
    body_truncated: { const: true, description: '正文过长，只返回开头' },
    summary: nullable('string'),
    tags: TEXTS,
    domains: TEXTS,
    source: nullable('string'),
    credibility_score: nullable('number'),
    verified: { type: 'boolean' },
    status: { type: 'string' },
    created_at: TIME,
  },
  ['body_truncated'],
);

export function searchContent(parts: HeritageParts): ServerTool {
  return heritageTool<Input>(parts, {
    name: 'search_content',
    category: 'content',
    description: '搜索内容/知识库',
    annotations: READS,
    input: inputOf(
      {
        query: textUpTo(200, '搜索关键词；空格分开的每个词都要出现，中文从一个字起即可'),
        content_type: described(NAME, '内容类型过滤'),
        tags: described(NAMES, '标签过滤，有其中一个即可'),
        status: described(NAME, '状态过滤，默认 "published"'),
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `返回数量，默认 ${DEFAULT_LIMIT}，最大 ${MAX_LIMIT}`,
        },
      },
      ['content_type', 'tags', 'status', 'limit'],
    ),
    output: record({
      items: { type: 'array', items: ITEM, maxItems: MAX_LIMIT },
      total: { type: 'integer', minimum: 0 },
      query: { type: 'string' },
    }),
    run: async (input, { storage, scope }) => {
      const { items, total } = await storage.search(scope, {
        text: input.query,
        contentType: input.content_type ?? null,
        tags: input.tags ?? [],
        status: input.status ?? 'published',
        limit: input.limit ?? DEFAULT_LIMIT,
      });
      return { items: withinBounds(items), total, query: input.query };
    },
  });
}

function withinBounds(items: readonly ContentItem[]): (ContentItem & { body_truncated?: true })[] {
  let left = WHOLE_TEXT_CHARACTERS;
  return items.map((item) => {
    left -= item.body.length;
    if (left >= 0 || item.body.length <= BEGINNING_CHARACTERS) return item;
    return { ...item, body: beginningOf(item.body), body_truncated: true };
  });
}

/** Does not split a surrogate pair. */
function beginningOf(text: string): string {
  return text.slice(0, BEGINNING_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
}
