import { parseUriTemplate, reason, WIRE_LIMITS, type FailureCode, type Reason } from '@patchboard/wire';
import { failure, type Failure } from '../failures.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import type { Limits } from '../limits.ts';
import { hasHiddenCharacters, isToolName } from '../tools/tool-names.ts';
import type { Prompt, Resource, ResourceSet, ResourceTemplate } from './resource.ts';

/** RFC 3986: a scheme and visible ASCII. */
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]+$/;

/** Reserved for resources of this server. */
const OWN_SCHEME = 'patchboard:';

/** Returns whether the text can be the URI of a resource. */
export function isResourceUri(uri: string): boolean {
  return uri.length <= WIRE_LIMITS.uriCharacters && ABSOLUTE_URI.test(uri);
}

export type RuleLimits = Pick<Limits, 'toolDescriptionBytes'>;

interface Problem {
  readonly code: FailureCode;
  readonly why: Reason;
}

/** Returns what is wrong with a member by itself, or null. `isOwn`: the server's own may use the scheme `patchboard:`. */
export function setProblem(set: ResourceSet, limits: RuleLimits, isOwn: boolean): Failure | null {
  for (const resource of set.resources ?? []) {
    const problem = resourceProblem(resource, limits, isOwn);
    const uri = String(resource.uri);
    if (problem !== null)
      return failure(problem.code, reason('resource_rejected', { uri, problem: [problem.why] }));
  }
  for (const template of set.resourceTemplates ?? []) {
    const problem = templateProblem(template, limits, isOwn);
    const text = String(template.uriTemplate);
    if (problem !== null)
      return failure(
        problem.code,
        reason('resource_template_rejected', { template: text, problem: [problem.why] }),
      );
  }
  for (const prompt of set.prompts ?? []) {
    const problem = promptProblem(prompt, limits);
    const name = String(prompt.name);
    if (problem !== null)
      return failure(problem.code, reason('prompt_rejected', { name, problem: [problem.why] }));
  }
  return null;
}

function resourceProblem(resource: Resource, limits: RuleLimits, isOwn: boolean): Problem | null {
  const { uri, size } = resource;
  const characters = WIRE_LIMITS.uriCharacters;
  if (typeof uri !== 'string' || !isResourceUri(uri))
    return { code: 'name_invalid', why: reason('resource_uri_invalid', { characters }) };
  if (/[{}]/.test(uri)) return { code: 'name_invalid', why: reason('uri_with_braces') };
  if (size !== undefined && (!Number.isSafeInteger(size) || size < 0))
    return { code: 'schema_invalid', why: reason('resource_size_rule') };
  return schemeProblem(uri, isOwn) ?? functionProblem(resource, 'read') ?? wordsProblem(resource, limits);
}

function templateProblem(template: ResourceTemplate, limits: RuleLimits, isOwn: boolean): Problem | null {
  const { uriTemplate } = template;
  const parsed = typeof uriTemplate === 'string' ? parseUriTemplate(uriTemplate) : null;
  if (parsed === null || !isResourceUri(uriTemplate.replaceAll(/[{}]/g, '')))
    return { code: 'name_invalid', why: reason('uri_template_rule') };
  const name = Object.keys(template.complete ?? {}).find((one) => !parsed.variables.includes(one));
  if (name !== undefined)
    return { code: 'schema_invalid', why: reason('completer_of_no_variable', { name }) };
  return (
    schemeProblem(uriTemplate, isOwn) ?? functionProblem(template, 'read') ?? wordsProblem(template, limits)
  );
}

function promptProblem(prompt: Prompt, limits: RuleLimits): Problem | null {
  if (typeof prompt.name !== 'string' || !isToolName(prompt.name))
    return { code: 'name_invalid', why: reason('tool_name_rule') };
  const seen = new Set<string>();
  for (const argument of prompt.arguments ?? []) {
    const { name } = argument;
    if (seen.has(name)) return { code: 'name_taken', why: reason('prompt_argument_twice', { name }) };
    seen.add(name);
    const problem = isToolName(name)
      ? wordsProblem(argument, limits)
      : ({ code: 'name_invalid', why: reason('tool_name_rule') } as const);
    if (problem !== null)
      return {
        code: problem.code,
        why: reason('prompt_argument_rejected', { name, problem: [problem.why] }),
      };
  }
  return functionProblem(prompt, 'get') ?? wordsProblem(prompt, limits);
}

function schemeProblem(uri: string, isOwn: boolean): Problem | null {
  if (isOwn || !uri.toLowerCase().startsWith(OWN_SCHEME)) return null;
  return { code: 'name_taken', why: reason('uri_scheme_reserved', { scheme: OWN_SCHEME }) };
}

function functionProblem(item: object, member: string): Problem | null {
  if (typeof Reflect.get(item, member) === 'function') return null;
  return { code: 'schema_invalid', why: reason('member_not_function', { member }) };
}

interface Words {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
}

function wordsProblem(words: Words, { toolDescriptionBytes: bytes }: RuleLimits): Problem | null {
  for (const member of ['name', 'title', 'description'] as const) {
    const text: unknown = words[member];
    if (text === undefined && member !== 'name') continue;
    if (typeof text !== 'string' || (text === '' && member === 'name'))
      return { code: 'schema_invalid', why: reason('member_not_text', { member }) };
    if (utf8Bytes(text) > bytes)
      return { code: 'too_large', why: reason('member_over_limit', { member, bytes }) };
    const problem = [reason('hidden_characters')];
    if (hasHiddenCharacters(text))
      return { code: 'schema_invalid', why: reason('member_hidden', { member, problem }) };
  }
  return null;
}
