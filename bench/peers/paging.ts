/**
 * What offset pages say of themselves.
 *
 * @module
 */

export function pagesOf(currentPage: number, totalRecords: number): object {
  return { currentPage, pageSize: 50, totalPages: Math.ceil(totalRecords / 50), totalRecords }
}
