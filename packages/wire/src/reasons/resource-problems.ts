import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a resource or prompt is not registered, not read or not returned. */
export interface ResourceProblems {
  readonly resource_unknown: { readonly uri: string };
  readonly resource_template_unknown: { readonly template: string };
  readonly prompt_unknown: { readonly name: string };
  readonly resource_uri_invalid: { readonly characters: number };
  readonly resource_over_limit: { readonly bytes: number };
  readonly resource_timed_out: { readonly ms: number };
  readonly resource_contents_invalid: NoParams;
  readonly prompt_messages_invalid: NoParams;
  readonly completion_values_invalid: NoParams;
  readonly prompt_argument_missing: { readonly name: string };
  readonly prompt_argument_unknown: { readonly name: string; readonly known: string };
  readonly prompt_argument_not_one_of: { readonly name: string; readonly values: string };
  readonly prompt_argument_not_number: { readonly name: string };
  readonly resource_reads_of_tenant: { readonly count: number };
  readonly resource_rejected: { readonly uri: string; readonly problem: readonly ReasonView[] };
  readonly resource_template_rejected: { readonly template: string; readonly problem: readonly ReasonView[] };
  readonly prompt_rejected: { readonly name: string; readonly problem: readonly ReasonView[] };
  readonly prompt_argument_rejected: { readonly name: string; readonly problem: readonly ReasonView[] };
  readonly uri_template_rule: NoParams;
  readonly uri_with_braces: NoParams;
  readonly uri_scheme_reserved: { readonly scheme: string };
  readonly member_not_function: { readonly member: string };
  readonly member_not_text: { readonly member: string };
  readonly member_over_limit: { readonly member: string; readonly bytes: number };
  readonly member_hidden: { readonly member: string; readonly problem: readonly ReasonView[] };
  readonly resource_size_rule: NoParams;
  readonly completer_of_no_variable: { readonly name: string };
  readonly prompt_argument_twice: { readonly name: string };
  readonly resource_registered_twice: { readonly key: string };
  readonly resources_of_pack: { readonly count: number };
  readonly must_be_resources: NoParams;
}

export const RESOURCE_PROBLEMS: Sentences<ResourceProblems> = {
  resource_unknown: ({ uri }) => `no resource has the URI ${uri}`,
  resource_template_unknown: ({ template }) => `no resource template is ${template}`,
  prompt_unknown: ({ name }) => `no prompt has the name ${name}`,
  resource_uri_invalid: ({ characters }) =>
    `a URI has a scheme and at most ${characters} visible ASCII characters, such as notes://today; encode others as %XX`,
  resource_over_limit: ({ bytes }) => `the contents are larger than the limit of ${bytes} bytes`,
  resource_timed_out: ({ ms }) => `the pack returned nothing within ${ms} ms`,
  resource_contents_invalid: () =>
    'the pack returned no valid contents: each needs text, or a blob in base64',
  prompt_messages_invalid: () =>
    'the pack returned no valid messages: each needs a role, user or assistant, and a content block',
  completion_values_invalid: () => 'the pack returned no valid completion: it must be a list of strings',
  prompt_argument_missing: ({ name }) => `the argument ${name} is required`,
  prompt_argument_unknown: ({ name, known }) =>
    known === ''
      ? `there is no argument ${name}: none is accepted`
      : `there is no argument ${name}; accepted are: ${known}`,
  prompt_argument_not_one_of: ({ name, values }) => `${name} must be one of: ${values}`,
  prompt_argument_not_number: ({ name }) => `${name} must be a whole number from 1`,
  resource_reads_of_tenant: ({ count }) =>
    `${count} reads of resources and prompts of this tenant are running, which is the limit`,
  resource_rejected: ({ uri, problem }) => `resource ${uri}: ${problem}`,
  resource_template_rejected: ({ template, problem }) => `resource template ${template}: ${problem}`,
  prompt_rejected: ({ name, problem }) => `prompt ${name}: ${problem}`,
  prompt_argument_rejected: ({ name, problem }) => `argument ${name}: ${problem}`,
  uri_template_rule: () =>
    'a template is a URI with variables {name} (RFC 6570, level 1), each name once, with text between two variables',
  uri_with_braces: () => 'a URI has no braces; register one with variables as a resource template',
  uri_scheme_reserved: ({ scheme }) => `${scheme} is reserved for this server; use another scheme`,
  member_not_function: ({ member }) => `${member} is no function`,
  member_not_text: ({ member }) => `${member} must be text`,
  member_over_limit: ({ member, bytes }) => `${member} is larger than ${bytes} bytes`,
  member_hidden: ({ member, problem }) => `${member} ${problem}`,
  resource_size_rule: () => 'size must be a whole number of bytes',
  completer_of_no_variable: ({ name }) => `complete has ${name}, which is no variable of the template`,
  prompt_argument_twice: ({ name }) => `argument ${name} is there twice`,
  resource_registered_twice: ({ key }) => `registered twice: ${key}`,
  resources_of_pack: ({ count }) => `a pack may have at most ${count} resources, templates and prompts`,
  must_be_resources: () =>
    'must be an object with resources, resourceTemplates and prompts, or a ResourceRegistry',
};
