/** The agent of an operator's own calls. */
export const OPERATOR_AGENT = 'operator';

/** The agent of calls without a credential, in local mode. */
export const LOCAL_AGENT = 'local';
