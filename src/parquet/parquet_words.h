/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of Parquet's structs and values: parquet.thrift of github.com/apache/parquet-format. */
#pragma once

enum parquet_page { PAGE_OF_DATA = 0, PAGE_OF_DICTIONARY = 2 };

enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DICTIONARY = 8 };

enum { CODEC_ZSTD = 6 };

enum { TYPE_INT64 = 2, TYPE_BYTES = 6 };

enum { CONVERTED_UTF8 = 0 };

enum { REPETITION_REQUIRED = 0, REPETITION_OPTIONAL = 1 };

/* PageHeader, DataPageHeader and DictionaryPageHeader */
enum {
	PAGE_TYPE = 1,
	PAGE_PLAIN_BYTES = 2,
	PAGE_PACKED_BYTES = 3,
	PAGE_DATA_HEADER = 5,
	PAGE_DICTIONARY_HEADER = 7,
	HEADER_VALUES = 1,
	HEADER_ENCODING = 2,
	HEADER_DEFINITION_ENCODING = 3,
	HEADER_REPETITION_ENCODING = 4,
};

/* FileMetaData */
enum { FILE_VERSION = 1, FILE_SCHEMA = 2, FILE_ROWS = 3, FILE_GROUPS = 4, FILE_CREATED_BY = 6, FILE_ORDERS = 7 };

/* ColumnOrder */
enum { ORDER_OF_TYPE = 1 };

/* SchemaElement, LogicalType, TimestampType and TimeUnit */
enum {
	ELEMENT_TYPE = 1,
	ELEMENT_REPETITION = 3,
	ELEMENT_NAME = 4,
	ELEMENT_CHILDREN = 5,
	ELEMENT_CONVERTED = 6,
	ELEMENT_LOGICAL = 10,
	LOGICAL_STRING = 1,
	LOGICAL_TIME = 8,
	TIME_IS_UTC = 1,
	TIME_UNIT = 2,
	UNIT_NS = 3,
};

/* RowGroup, ColumnChunk, ColumnMetaData and Statistics */
enum {
	GROUP_COLUMNS = 1,
	GROUP_BYTES = 2,
	GROUP_ROWS = 3,
	CHUNK_AT = 2,
	CHUNK_METADATA = 3,
	COLUMN_TYPE = 1,
	COLUMN_ENCODINGS = 2,
	COLUMN_PATH = 3,
	COLUMN_CODEC = 4,
	COLUMN_VALUES = 5,
	COLUMN_PLAIN_BYTES = 6,
	COLUMN_PACKED_BYTES = 7,
	COLUMN_DATA_AT = 9,
	COLUMN_DICTIONARY_AT = 11,
	COLUMN_STATISTICS = 12,
	STATISTICS_NULLS = 3,
	STATISTICS_MAX = 5,
	STATISTICS_MIN = 6,
};
