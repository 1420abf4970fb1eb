package org.apache.iceberg;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.iceberg.hadoop.HadoopOutputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.types.*;

/**
 * Made tests/unit/iceberg/data/partition_types_vN.avro: a manifest with a partition field of every type, and its
 * summaries on standard output. Run with the Iceberg runtime and Spark's jars: PartitionTypes FORMAT_VERSION FILE [fixed]
 *
 * With a third argument there is a field of type fixed[5] too, whose values this Iceberg (1.12.0) writes and reads as
 * bytes, against the schema in the file.
 */
public class PartitionTypes {
  static Types.NestedField column(int id, String name, Type type) {
    return Types.NestedField.optional(id, name, type);
  }

  public static void main(String[] args) throws Exception {
    boolean withFixed = args.length > 2;
    Schema schema = new Schema(
        column(1, "b", Types.BooleanType.get()), column(2, "i", Types.IntegerType.get()),
        column(3, "l", Types.LongType.get()), column(4, "f", Types.FloatType.get()),
        column(5, "d", Types.DoubleType.get()), column(6, "dec", Types.DecimalType.of(9, 2)),
        column(7, "dec38", Types.DecimalType.of(38, 10)), column(8, "dt", Types.DateType.get()),
        column(9, "t", Types.TimeType.get()), column(10, "ts", Types.TimestampType.withoutZone()),
        column(11, "tz", Types.TimestampType.withZone()), column(12, "tsn", Types.TimestampNanoType.withoutZone()),
        column(13, "tzn", Types.TimestampNanoType.withZone()), column(14, "s", Types.StringType.get()),
        column(15, "u", Types.UUIDType.get()), column(16, "fx", Types.FixedType.ofLength(5)),
        column(17, "bin", Types.BinaryType.get()), column(18, "dec_again", Types.DecimalType.of(9, 2)),
        column(19, "9 odd/n\u00fc", Types.UUIDType.get()));
    PartitionSpec.Builder builder = PartitionSpec.builderFor(schema);
    for (Types.NestedField field : schema.columns()) {
      if (withFixed || field.fieldId() != 16) builder.identity(field.name());
    }
    PartitionSpec spec = builder.alwaysNull("l", "lv").build();
    OutputFile out = HadoopOutputFile.fromPath(new Path(args[1]), new Configuration());
    ManifestWriter<DataFile> writer = ManifestFiles.write(Integer.parseInt(args[0]), spec, out, 77L);

    PartitionData nulls = new PartitionData(spec.partitionType());
    writer.add(DataFiles.builder(spec).withPath("/w/null.parquet").withFormat("parquet").withFileSizeInBytes(10)
        .withRecordCount(3).withPartition(nulls).build());

    Object[] values = {true, -5, 1L << 40, -0.0f, Double.NaN, new BigDecimal("-12.34"),
        new BigDecimal("1234567890123456789012345678.0123456789"), -1, 3600000001L, -1L, 1709210096000007L, -7L,
        1709210096000007001L, "z\u00fcrich \ud83d\ude00", UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7"),
        ByteBuffer.wrap(new byte[] {1, 2, 3, 4, (byte) 255}), ByteBuffer.wrap(new byte[] {(byte) 128, 0}),
        new BigDecimal("0.01"), UUID.fromString("00000000-0000-0000-0000-000000000001"), null};
    PartitionData full = nulls.copy();
    int at = 0;
    for (int i = 0; i < values.length; i++) {
      if (withFixed || i != 15) full.set(at++, values[i]);
    }
    Map<Integer, Long> counts = new HashMap<>();
    counts.put(1, 10L);
    counts.put(2, 20L);
    Map<Integer, ByteBuffer> bounds = new HashMap<>();
    bounds.put(2, Conversions.toByteBuffer(Types.IntegerType.get(), -5));
    writer.add(DataFiles.builder(spec).withPath("/w/full.parquet").withFormat("parquet").withFileSizeInBytes(11)
        .withMetrics(new Metrics(4L, counts, counts, counts, new HashMap<>(), bounds, bounds))
        .withSplitOffsets(Arrays.asList(4L, 1000L)).withSortOrder(SortOrder.unsorted()).withPartition(full).build());

    PartitionData other = full.copy();
    other.set(3, 0.0f);
    other.set(4, 1.5);
    other.set(5, new BigDecimal("9999999.99"));
    other.set(13, "z\uffee");
    other.set(withFixed ? 16 : 15, null);
    DataFile file = DataFiles.builder(spec).withPath("/w/existing.parquet").withFormat("parquet")
        .withFileSizeInBytes(12).withRecordCount(5).withPartition(other).build();
    writer.existing(file, 66L, 3L, 3L);
    writer.delete(file, 2L, 2L);
    writer.close();

    for (ManifestFile.PartitionFieldSummary summary : writer.toManifestFile().partitions()) {
      System.out.println(summary.containsNull() + " " + summary.containsNaN() + " " + hex(summary.lowerBound()) + " "
          + hex(summary.upperBound()));
    }
  }

  static String hex(ByteBuffer bytes) {
    if (bytes == null) return "-";
    StringBuilder text = new StringBuilder();
    for (int i = bytes.position(); i < bytes.limit(); i++) text.append(String.format("%02x", bytes.get(i)));
    return text.toString();
  }
}
