import { isRecord } from '@patchboard/wire/json';
import type { MemberEncoding, OperationBody } from './operation.ts';
import { queryPairs, type QueryParameter } from './query-parameters.ts';

/** Returns `application/x-www-form-urlencoded` text. */
export function formText(
  { argument, encoding }: OperationBody,
  members: Readonly<Record<string, unknown>>,
): string {
  return Object.entries(members)
    .flatMap(([name, value]) =>
      queryPairs(formMember(name, argument, encodingOf(encoding, name), value), value),
    )
    .join('&');
}

/** A member with a style is written like a query parameter. Without one, objects are JSON. */
function formMember(
  name: string,
  argument: string,
  encoding: MemberEncoding | undefined,
  value: unknown,
): QueryParameter {
  const style = encoding?.style ?? 'form';
  const hasStyle =
    encoding?.style !== undefined || encoding?.explode !== undefined || encoding?.allowReserved !== undefined;
  const mediaType = encoding?.contentType ?? (isRecord(value) ? 'application/json' : undefined);
  return {
    name,
    argument: `${argument}.${name}`,
    style,
    explode: encoding?.explode ?? style === 'form',
    allowReserved: encoding?.allowReserved ?? false,
    ...(hasStyle || mediaType === undefined ? {} : { mediaType }),
  };
}

export function encodingOf(encoding: OperationBody['encoding'], name: string): MemberEncoding | undefined {
  return encoding !== undefined && Object.hasOwn(encoding, name) ? encoding[name] : undefined;
}
