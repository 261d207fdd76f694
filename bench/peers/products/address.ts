/**
 * The PostgreSQL database of the command line, and the schema in it that has the table.
 *
 * @module
 */

const address = new URL(process.argv[2] ?? '')
export const schema = address.searchParams.get('schema') ?? 'public'
address.searchParams.delete('schema')
export const url = address.href
