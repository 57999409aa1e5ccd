import { ENGLISH, reason, textIn, type ReasonCode, type ReasonView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { dayAndTime } from '../format.ts';
import { codeWords, reasonWords, REASON_LANGUAGES } from './reasons.ts';

const CODES = Object.keys(ENGLISH) as ReasonCode[];
/** Codes whose sentence is the words of another, or a sign. */
const WITHOUT_WORDS: readonly string[] = [
  'text',
  'json_wanted_colon',
  'input_issue',
  'output_issue',
  'request_issue',
  'openapi_argument',
  'at_place',
  'name_held',
  'edit_problem',
];

/** The sentence of a code with parameters that show their own names, and the names that it asked for. */
function shown(language: keyof typeof REASON_LANGUAGES, code: ReasonCode): { text: string; names: string[] } {
  const names = new Set<string>();
  const params = new Proxy(
    {},
    {
      get: (_target, name) => {
        names.add(String(name));
        return `<${String(name)}>`;
      },
    },
  );
  const sentence = REASON_LANGUAGES[language].sentences[code] as (given: object) => string;
  return { text: sentence(params), names: [...names].sort() };
}

describe('reasons in the languages of the console', () => {
  it.each(CODES)('say %s with the same particulars in each', (code) => {
    const english = shown('en', code);
    const chinese = shown('zh', code);
    expect(chinese.names).toEqual(english.names);
    for (const name of english.names) expect(chinese.text).toContain(`<${name}>`);
    if (!WITHOUT_WORDS.includes(code)) expect(chinese.text).toMatch(/\p{Script=Han}|或/u);
  });

  it('put several beside one another, and one inside another', () => {
    const problem = reason('json_at_column', { problem: [reason('json_leading_zero')], column: 3 });
    const reasons = [
      reason('tool_destructive'),
      reason('arguments_not_json', { tool: 'pay', problem: [problem] }),
    ];
    expect(reasonWords('zh', reasons)).toBe(
      '工具有破坏性；pay 的参数不是 JSON 对象：数字不能以 0 开头（第 3 列）',
    );
    expect(reasonWords('en', reasons)).toBe(
      'the tool is destructive; the arguments of pay are no JSON object: a number must not start with 0 at column 3',
    );
  });

  it('write a time as the console writes times, and leave one that cannot be read', () => {
    const since = '2026-11-19T05:57:16.281Z';
    for (const language of ['en', 'zh'] as const) {
      const time = dayAndTime(since, language);
      expect(reasonWords(language, [reason('contract_changed', { since })])).toContain(` ${time}`);
      expect(reasonWords(language, [reason('key_outlives_maker', { at: since })])).toContain(time);
      expect(reasonWords(language, [reason('contract_changed', { since: 'soon' })])).toContain(' soon');
    }
  });

  it('say why the weather service failed, and show the text of an older record as it is', () => {
    const error = 'it responded with status 503';
    const failed = reason('weather_unusable', { error, why: [reason('weather_status', { status: 503 })] });
    const older: ReasonView = { code: 'weather_unusable', params: { error } };
    expect(reasonWords('zh', [failed])).toBe('无法使用天气服务：服务返回状态 503');
    expect(reasonWords('zh', [older])).toBe('无法使用天气服务：it responded with status 503');
    for (const each of [failed, older]) {
      expect(reasonWords('en', [each])).toBe(
        'the weather service could not be used: it responded with status 503',
      );
    }
  });

  it('leave the words of others as they are', () => {
    const reasons = [reason('tool_destructive'), reason('text', { text: 'Ask Ana first; she knows' })];
    expect(reasonWords('zh', reasons)).toBe('工具有破坏性；Ask Ana first; she knows');
  });

  it('say what a failure code means beside words that have no code', () => {
    expect(codeWords('zh', 'tool_failed', 'it broke')).toBe('工具报告失败：it broke');
    expect(codeWords('en', 'tool_failed', 'it broke')).toBe('it broke');
    expect(codeWords('zh', 'network_error', 'gone')).toBeNull();
  });

  it('have nothing to say of a record without reasons, nor of a code of a newer server', () => {
    const unknown: ReasonView = { code: 'moon_is_full', params: {} };
    expect(reasonWords('zh', undefined)).toBeNull();
    expect(reasonWords('zh', [])).toBeNull();
    expect(reasonWords('zh', [reason('no_rule'), unknown])).toBeNull();
    expect(textIn(ENGLISH, '; ', [{ code: 'denied', params: { reasons: [unknown] } }])).toBeNull();
  });
});
