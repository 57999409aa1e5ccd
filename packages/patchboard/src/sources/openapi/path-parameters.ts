import { reason } from '@patchboard/wire';
import { argumentProblem, operationProblem } from './argument-problem.ts';
import type { OperationParameter } from './operation.ts';
import { contentText, parameterValue, type ParameterValue } from './parameter-values.ts';
import { encodePathLiteral, percentEncode } from './percent-encoding.ts';

/** Fills in the placeholders of a path template. Every value stays inside its segment. */
export function expandPath(
  template: string,
  parameters: readonly OperationParameter[],
  args: ReadonlyMap<string, unknown>,
): string {
  const segments = template.split('/').map((segment) => {
    const expanded = segment
      .split(/(\{[^{}]*\})/)
      .map((part, index) =>
        index % 2 === 0
          ? encodePathLiteral(part)
          : expandPlaceholder(part.slice(1, -1), template, parameters, args),
      )
      .join('');
    if (isDots(expanded)) throw operationProblem(reason('openapi_path_dots', { path: template }));
    return expanded;
  });
  return segments.join('/');
}

function expandPlaceholder(
  name: string,
  template: string,
  parameters: readonly OperationParameter[],
  args: ReadonlyMap<string, unknown>,
): string {
  const parameter = parameters.find((each) => each.in === 'path' && each.name === name);
  if (parameter === undefined)
    throw operationProblem(reason('openapi_placeholder_unknown', { path: template, name }));
  const { argument, mediaType } = parameter;
  const given = args.get(argument);
  const value: ParameterValue =
    mediaType === undefined || given === undefined
      ? parameterValue(given)
      : { kind: 'primitive', text: contentText(given, mediaType) };
  refuseOtherPaths(argument, value);
  return expandStyle(parameter, value);
}

/**
 * A value without text names another resource (`/pets/`). URL parsers resolve dot segments even if they are encoded, and
 * some servers also after decoding a slash or backslash.
 */
function refuseOtherPaths(argument: string, value: ParameterValue): void {
  const texts = textsOf(value);
  if (texts.every((text) => text === '')) throw argumentProblem(argument, reason('openapi_value_empty'));
  if (texts.some((text) => text.split(/[/\\]/).some(isDots)))
    throw argumentProblem(argument, reason('openapi_value_dots'));
}

function textsOf(value: ParameterValue): readonly string[] {
  switch (value.kind) {
    case 'none':
      return [];
    case 'primitive':
      return [value.text];
    case 'array':
      return value.items;
    case 'object':
      return value.members.flat();
  }
}

function isDots(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment);
}

/** RFC 6570: `{value}`, `{.value}` and `{;value}`, with or without `*`. */
function expandStyle(parameter: OperationParameter, value: ParameterValue): string {
  const { style } = parameter;
  if (style === 'matrix') return expandMatrix(parameter, value);
  const prefix = style === 'label' ? '.' : '';
  // OpenAPI writes `.a.b` for an exploded label and `.a,b` for another.
  const delimiter = style === 'label' && parameter.explode ? '.' : ',';
  return prefix + itemsOf(parameter, value).join(delimiter);
}

function expandMatrix(parameter: OperationParameter, value: ParameterValue): string {
  const { name, argument, explode } = parameter;
  const key = percentEncode(name, argument);
  if (!explode || value.kind === 'primitive') return `;${key}=${itemsOf(parameter, value).join(',')}`;
  if (value.kind === 'array')
    return itemsOf(parameter, value)
      .map((item) => `;${key}=${item}`)
      .join('');
  return itemsOf(parameter, value)
    .map((item) => `;${item}`)
    .join('');
}

function itemsOf({ argument, explode }: OperationParameter, value: ParameterValue): readonly string[] {
  const encode = (text: string): string => percentEncode(text, argument);
  if (value.kind === 'object' && explode)
    return value.members.map(([member, text]) => `${encode(member)}=${encode(text)}`);
  return textsOf(value).map(encode);
}
