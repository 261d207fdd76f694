/**
 * The header with which clients send a QUERY as a POST, through proxies that know no QUERY.
 *
 * @module
 */

/** The header's name. */
export const METHOD_OVERRIDE = 'x-http-method-override'
